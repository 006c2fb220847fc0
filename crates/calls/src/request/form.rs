//! The form of a task in one family of tools: the fields that it has there, and their names. The
//! schema that models read is made from it, and arguments are read by it.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::field::TaskField;
use super::task::TaskRequest;
use super::terms::TERMS;
use crate::arguments::CallError;

/// The form of a task.
pub(crate) struct TaskForm {
    /// The fields that the family words itself. The terms of every family follow them.
    pub(crate) own: &'static [FormField],
}

/// A field of a form.
pub(crate) struct FormField {
    pub(crate) field: &'static TaskField,
    /// The names of the field; the first one is used in errors. If a task gives several of them,
    /// they must agree.
    pub(crate) words: &'static [Word],
    pub(crate) need: Need,
}

/// A name of a field, and what models read about it. A name without a word about it is read, and is
/// offered to nobody.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

/// Whether a field must be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Optional,
    /// It must be given, and must not be empty.
    Filled,
    /// It must be given, and counts as left out if it is empty.
    Meant,
}

/// The fields of a form that a schema describes in words: each word costs a model tokens in every
/// conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Described {
    Everything,
    /// All but the terms of every family, which another tool describes.
    Own,
    Nothing,
}

/// The fields of a task as they are written, not yet read.
#[derive(Debug)]
pub(crate) struct TaskFields(Map<String, Value>);

/// A task whose fields are read, and not yet checked against the needs of its form.
pub(crate) struct ReadTask {
    request: TaskRequest,
    /// The names of the fields that are given, in the order of the form.
    given: Vec<&'static str>,
    /// The first need that is not met, as a sentence.
    lacks: Option<String>,
}

impl TaskForm {
    /// Returns the JSON schema of a task.
    pub(crate) fn schema(&self, described: Described) -> Value {
        let mut properties = Map::new();
        let own = self
            .own
            .iter()
            .map(|field| (field, described != Described::Nothing));
        let terms = TERMS
            .iter()
            .map(|field| (field, described == Described::Everything));
        for (field, is_described) in own.chain(terms) {
            for word in field.words.iter().filter(|word| !word.about.is_empty()) {
                let mut schema = (field.field.schema)();
                if is_described {
                    schema["description"] = word.about.into();
                }
                properties.insert(word.name.to_owned(), schema);
            }
        }
        let mut schema = json!({"type": "object", "properties": properties});
        let required = self.own.iter().filter_map(FormField::required);
        let required: Vec<&str> = required.collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    /// Reads the fields of a task. The place of the task, such as `tasks[0].`, stands before the
    /// names of its fields in errors.
    pub(crate) fn read(&self, fields: &TaskFields, place: &str) -> Result<ReadTask, CallError> {
        let mut read = ReadTask {
            request: TaskRequest::default(),
            given: Vec::new(),
            lacks: None,
        };
        for field in self.own.iter().chain(&TERMS) {
            field.read(&fields.0, place, &mut read)?;
        }
        Ok(read)
    }
}

impl FormField {
    /// Returns the name that a schema requires. Of several names, none is required.
    fn required(&self) -> Option<&'static str> {
        match (self.need, self.words) {
            (Need::Filled | Need::Meant, [word]) => Some(word.name),
            (Need::Optional | Need::Filled | Need::Meant, _) => None,
        }
    }

    fn read(
        &self,
        fields: &Map<String, Value>,
        place: &str,
        read: &mut ReadTask,
    ) -> Result<(), CallError> {
        let mut first: Option<(&str, String)> = None;
        for word in self.words {
            let Some(value) = fields.get(word.name) else {
                continue;
            };
            let field_place = format!("{place}{}", word.name);
            if !(self.field.put)(&mut read.request, value, &field_place)? {
                continue;
            }
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            match &first {
                Some((other, earlier)) if *earlier != text => {
                    return Err(CallError(format!(
                        "{place}{other} and {field_place} name the same thing, but differ: \"{earlier}\" and \"{text}\""
                    )));
                }
                Some(_) => {}
                None => first = Some((word.name, text)),
            }
            read.given.push(word.name);
        }
        if let (None, Some(problem)) = (first, self.problem_without(fields)) {
            let name = self.words.first().map_or("", |word| word.name);
            read.lacks.get_or_insert(format!("{place}{name} {problem}"));
        }
        Ok(())
    }

    /// Returns what is wrong if no value of the field says anything.
    fn problem_without(&self, fields: &Map<String, Value>) -> Option<&'static str> {
        let is_there = self.words.iter().any(|word| fields.contains_key(word.name));
        match (self.need, is_there) {
            (Need::Optional, _) => None,
            (Need::Filled, true) => Some("must not be empty"),
            (Need::Filled, false) | (Need::Meant, _) => Some("is missing"),
        }
    }
}

impl ReadTask {
    /// Returns the name of the first field that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        self.given.first().copied()
    }

    /// Returns the task if it has everything that its form needs.
    pub(crate) fn checked(self) -> Result<TaskRequest, CallError> {
        match self.lacks {
            Some(problem) => Err(CallError(problem)),
            None => Ok(self.request),
        }
    }
}

/// Written by hand, because the error must name what a task is.
impl<'de> Deserialize<'de> for TaskFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = TaskFields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<TaskFields, M::Error> {
                let mut fields = Map::new();
                while let Some((name, value)) = map.next_entry()? {
                    fields.insert(name, value);
                }
                Ok(TaskFields(fields))
            }
        }

        deserializer.deserialize_any(Fields)
    }
}
