//! The fields that a task can have: the values that each takes, and the place where a request keeps
//! it. They are read as leniently as pi reads them.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_vocabulary::{AfterFailure, ForEach, MOST_ATTEMPTS, PickRule, SessionId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::task::{Continues, TaskRequest};
use crate::arguments::{
    self, CallError, optional_count, optional_number, optional_text, read_at, read_field,
};
use crate::families::delegation::FileSpec;
use crate::tool::parameters;

/// A field of a task.
pub(crate) struct TaskField {
    /// Makes its JSON schema, without a description.
    pub(super) schema: fn() -> Value,
    /// Puts a value into a request, and returns whether the value says anything. An error begins
    /// with the place of the field.
    pub(super) put: fn(&mut TaskRequest, &Value, &str) -> Result<bool, CallError>,
}

pub(crate) static NAME: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| {
        task.name = text(value, place)?.unwrap_or_default();
        Ok(!task.name.is_empty())
    },
};

pub(crate) static PROMPT: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| {
        task.prompt = text(value, place)?.unwrap_or_default();
        Ok(!task.prompt.is_empty())
    },
};

pub(crate) static AGENT: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| Ok(fill(&mut task.agent, text(value, place)?)),
};

pub(crate) static MODEL: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| Ok(fill(&mut task.terms.model, text(value, place)?)),
};

pub(crate) static CWD: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| Ok(fill(&mut task.cwd, text(value, place)?.map(PathBuf::from))),
};

pub(crate) static TIMEOUT: TaskField = TaskField {
    schema: || json!({"type": "number", "minimum": 1}),
    put: |task, value, place| {
        let seconds = read_field(value, place, optional_number)?;
        let time = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Ok(fill(&mut task.terms.timeout, seconds.map(time)))
    },
};

/// The id of a session that there must be, or of one of its runs.
pub(crate) static RESUME: TaskField = TaskField {
    schema: text_schema,
    put: |task, value, place| {
        let word = text(value, place)?;
        Ok(fill(&mut task.continues, word.map(Continues::Named)))
    },
};

/// The id of a session that begins if there is none.
pub(crate) static SESSION: TaskField = TaskField {
    schema: || json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{0,64}$"}),
    put: |task, value, place| {
        let session = text(value, place)?.as_deref().map(SessionId::parse);
        let session = session.transpose();
        let session =
            session.map_err(|error| CallError(format!("{place} cannot be used: {error}")))?;
        Ok(fill(&mut task.continues, session.map(Continues::Session)))
    },
};

pub(crate) static FILES: TaskField = TaskField {
    schema: || json!({"type": "array", "items": parameters::<Vec<FileSpec>>()["items"]}),
    put: |task, value, place| {
        #[derive(Deserialize)]
        struct Files(#[serde(deserialize_with = "arguments::list")] Vec<FileSpec>);

        let Files(files) = read_at(value, place)?;
        let is_meant = |file: &FileSpec| !file.path().as_os_str().is_empty();
        task.files = files.into_iter().filter(is_meant).collect();
        Ok(!task.files.is_empty())
    },
};

pub(crate) static NEEDS: TaskField = TaskField {
    schema: || json!({"type": "array", "items": {"type": "string"}}),
    put: |task, value, place| {
        #[derive(Deserialize)]
        struct Needs(#[serde(deserialize_with = "arguments::list")] Vec<String>);

        let Needs(needs) = read_at(value, place)?;
        let needs = needs.into_iter().map(|need| need.trim().to_owned());
        task.needs = needs.filter(|need| !need.is_empty()).collect();
        Ok(!task.needs.is_empty())
    },
};

pub(crate) static AFTER_FAILURE: TaskField = TaskField {
    schema: || json!({"type": "string", "enum": ["skip", "run"]}),
    put: |task, value, place| {
        let choice = text(value, place)?.map(|word| {
            AfterFailure::from_word(word.trim())
                .ok_or_else(|| CallError(format!("{place} must be skip or run, not \"{word}\"")))
        });
        Ok(fill(&mut task.after_failure, choice.transpose()?))
    },
};

/// The list for whose items a task is done.
pub(crate) static FOR_EACH: TaskField = TaskField {
    // A list of other things than texts can be written as a text of JSON: some providers take no list
    // of anything.
    schema: || {
        let text = json!({"type": "string"});
        json!({"anyOf": [text, {"type": "array", "items": text}, {"type": "object"}]})
    },
    put: |task, value, place| {
        let each = match value {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() => None,
            value => {
                let each = ForEach::try_from(value.clone());
                Some(each.map_err(|problem| CallError(format!("{place} {problem}")))?)
            }
        };
        Ok(fill(&mut task.for_each, each))
    },
};

/// The number of attempts at a task.
pub(crate) static ATTEMPTS: TaskField = TaskField {
    schema: || json!({"type": "integer", "minimum": 1, "maximum": MOST_ATTEMPTS}),
    put: |task, value, place| {
        let count = read_field(value, place, optional_count)?;
        if count.is_some_and(|count| count > MOST_ATTEMPTS) {
            return Err(CallError(format!(
                "{place} must be at most {MOST_ATTEMPTS}"
            )));
        }
        Ok(fill(&mut task.attempts, count))
    },
};

/// The models of attempts.
pub(crate) static MODELS: TaskField = TaskField {
    schema: || json!({"type": "array", "items": {"type": "string"}}),
    put: |task, value, place| {
        #[derive(Deserialize)]
        struct Models(#[serde(deserialize_with = "arguments::list")] Vec<String>);

        let Models(models) = read_at(value, place)?;
        let models = models.into_iter().map(|model| model.trim().to_owned());
        task.models = models.filter(|model| !model.is_empty()).collect();
        Ok(!task.models.is_empty())
    },
};

/// The rule by which an attempt is picked.
pub(crate) static PICK: TaskField = TaskField {
    schema: || {
        let rule = json!({"type": "object", "required": ["judge"], "properties": {
            "judge": text_schema(), "rubric": text_schema(),
        }});
        json!({"anyOf": [{"type": "string", "enum": ["first", "gate"]}, rule]})
    },
    put: |task, value, place| {
        let rule = match value {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() => None,
            value => {
                let rule = PickRule::try_from(value.clone());
                Some(rule.map_err(|problem| CallError(format!("{place} {problem}")))?)
            }
        };
        Ok(fill(&mut task.pick, rule))
    },
};

pub(super) fn text_schema() -> Value {
    json!({"type": "string"})
}

/// Reads a text, if one is given.
pub(super) fn text(value: &Value, place: &str) -> Result<Option<String>, CallError> {
    read_field(value, place, optional_text)
}

/// Fills a place of a request, and returns whether there was something to fill it with.
pub(super) fn fill<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let is_given = value.is_some();
    if is_given {
        *place = value;
    }
    is_given
}
