//! Reads the arguments of a tool call as leniently as pi does, with errors that name the field.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

use pi_subagents_ground::error::CommandError;

/// A call whose arguments do not fit; nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CallError(pub(crate) String);

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        Self::usage(error.0)
    }
}

/// Reads the arguments of a call.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, CallError> {
    if arguments.is_array() {
        // Its elements would be taken for the fields, in their order.
        let message = "the call must be an object, not a list";
        return Err(CallError(message.to_owned()));
    }
    read_at(arguments, "")
}

/// Reads a value that stands at a place of a call. An error begins with the place.
pub(crate) fn read_at<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T, CallError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inside = error.path().to_string();
        let path = match (place, inside.as_str()) {
            (place, ".") => place.to_owned(),
            ("", inside) => inside.to_owned(),
            (place, inside) if inside.starts_with('[') => format!("{place}{inside}"),
            (place, inside) => format!("{place}.{inside}"),
        };
        CallError(sentence(&path, &error.inner().to_string()))
    })
}

/// Reads the value of a field with one of the readers below. An error begins with the place of the
/// field.
pub(crate) fn read_field<'a, T>(
    value: &'a Value,
    place: &str,
    reader: impl FnOnce(&'a Value) -> Result<T, serde_json::Error>,
) -> Result<T, CallError> {
    reader(value).map_err(|error| CallError(sentence(place, &error.to_string())))
}

/// Returns the place of a task of a call, as it stands before the fields of the task. One task may
/// be given without a list.
pub(crate) fn place_of_task(call: &Value, index: usize) -> String {
    if call["tasks"].is_array() {
        format!("tasks[{index}].")
    } else {
        "tasks.".to_owned()
    }
}

/// The number of tasks that a call of a model may have on this machine; the schemas have the same
/// limit.
pub(crate) const MAX_TASKS: usize = 16;

/// The number of tasks that any call may have.
pub(crate) const MOST_TASKS: usize = 1000;

/// The number of tasks that one call may have in a fleet, whose workers are many.
pub(crate) const MAX_TASKS_IN_FLEET: usize = 256;

/// Refuses a call with no task, or with more than this.
pub(crate) fn check_count(tasks: usize, most: usize) -> Result<(), CallError> {
    match tasks {
        0 => Err(CallError("tasks must have at least 1 task".to_owned())),
        many if many > most => Err(CallError(format!(
            "tasks must have at most {most} tasks, not {many}"
        ))),
        _ => Ok(()),
    }
}

/// Writes the place and the problem. A missing field is named at the place where it should be.
fn sentence(path: &str, problem: &str) -> String {
    let dot = if path.is_empty() { "" } else { "." };
    if let Some(field) = problem.strip_prefix("missing field `") {
        return format!("{path}{dot}{} is missing", field.trim_end_matches('`'));
    }
    let place = if path.is_empty() { "the call" } else { path };
    let Some((problem, expected)) = problem.split_once(", expected ") else {
        return format!("{place} {problem}");
    };
    let found = problem.strip_prefix("invalid type: ");
    let found = found.map(|found| if found == "sequence" { "a list" } else { found });
    // A list is in the place of an object: the parser only complains about its length.
    let found = found.or(problem.starts_with("invalid length").then_some("a list"));
    match found {
        Some(found) => format!("{place} must be {expected}, not {found}"),
        None => format!("{place} {problem}, expected {expected}"),
    }
}

/// Reads a text that is not empty.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    optional_text(deserializer)?.ok_or_else(|| D::Error::custom("must not be empty"))
}

/// Reads a text, if one is given; numbers and booleans are taken as they are written. An empty text
/// counts as left out, because models fill in fields that they do not mean.
pub(crate) fn optional_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        value @ (Value::Number(_) | Value::Bool(_)) => Ok(Some(value.to_string())),
        other => Err(must_be("a text", &other)),
    }
}

/// Reads a number of at least 1, if one is given, also in the form of a text. Zero counts as left
/// out, like an empty text: models that fill in every field write it.
pub(crate) fn optional_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    match number {
        Some(0.0) => Ok(None),
        Some(number) if number >= 1.0 && f64::is_finite(number) => Ok(Some(number)),
        Some(_) => Err(D::Error::custom("must be at least 1")),
        None => Err(must_be("a number", &value)),
    }
}

/// Reads a whole number of at least 1, if one is given.
pub(crate) fn optional_count<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<usize>, D::Error> {
    let number = optional_number(deserializer)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is at least 1, and a cast from a float saturates"
    )]
    Ok(number.map(|number| number as usize))
}

/// Reads yes or no, also where it is written as a text; nothing means no.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        Value::String(text) if text.trim() == "true" => Ok(true),
        Value::String(text) if matches!(text.trim(), "" | "false") => Ok(false),
        other => Err(must_be("true or false", &other)),
    }
}

/// Reads a list. A single value is a list of one, and nothing or an empty text is an empty list.
/// Some models write a list or an object as a text of JSON.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    struct OneOrMany<T>(PhantomData<T>);

    impl<'de, T: DeserializeOwned> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list")
        }

        fn visit_unit<E>(self) -> Result<Vec<T>, E> {
            Ok(Vec::new())
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<T>, E> {
            if text.trim().is_empty() {
                return Ok(Vec::new());
            }
            if let Some(values) = written_as_text(text) {
                return Ok(values);
            }
            // If a text can be no element, a list was wanted, and the error is about that.
            let one = T::deserialize(StrDeserializer::<E>::new(text));
            let one = one.map_err(|_| E::invalid_type(Unexpected::Str(text), &self))?;
            Ok(vec![one])
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Vec<T>, M::Error> {
            Ok(vec![T::deserialize(MapAccessDeserializer::new(map))?])
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut sequence: S) -> Result<Vec<T>, S::Error> {
            let mut values = Vec::new();
            while let Some(value) = sequence.next_element()? {
                values.push(value);
            }
            Ok(values)
        }
    }

    deserializer.deserialize_any(OneOrMany(PhantomData))
}

/// Reads a list, or the one object in it, that is written as a text of JSON.
fn written_as_text<T: DeserializeOwned>(text: &str) -> Option<Vec<T>> {
    if !text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::Array(values) => {
            let values = values.into_iter().map(serde_json::from_value);
            values.collect::<Result<_, _>>().ok()
        }
        value => Some(vec![serde_json::from_value(value).ok()?]),
    }
}

/// Returns the error for a value of another kind.
pub(crate) fn must_be<E: serde::de::Error>(expected: &str, value: &Value) -> E {
    let found = pi_subagents_vocabulary::text::cut_characters(&value.to_string(), 40);
    E::custom(format!("must be {expected}, not {found}"))
}
