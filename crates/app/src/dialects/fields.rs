//! Reads the arguments of a call as leniently as pi does, with errors that name the field.

use serde_json::{Map, Value};

/// A call whose arguments do not fit; nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CallError(pub(crate) String);

/// The fields of one object of a call.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: &'a str,
}

impl<'a> Fields<'a> {
    /// The fields of an object that stands at `path` of the call.
    pub(crate) fn of(value: &'a Value, path: &'a str) -> Result<Self, CallError> {
        match value {
            Value::Object(object) => Ok(Self { object, path }),
            other => Err(CallError(format!(
                "{} must be an object, not {}",
                if path.is_empty() { "the call" } else { path },
                brief(other)
            ))),
        }
    }

    /// A field that was given; null counts as not given.
    pub(crate) fn get(&self, field: &str) -> Option<&'a Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    /// A text that must be there and say something.
    pub(crate) fn text(&self, field: &str) -> Result<String, CallError> {
        match self.optional_text(field)? {
            Some(text) if text.trim().is_empty() => Err(self.error(field, "must not be empty")),
            Some(text) => Ok(text),
            None => Err(self.error(field, "is missing")),
        }
    }

    /// A text, if it is given; numbers and booleans are taken as they are written.
    pub(crate) fn optional_text(&self, field: &str) -> Result<Option<String>, CallError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(other) => Err(self.error(field, &format!("must be a text, not {}", brief(other)))),
        }
    }

    /// A number of at least 1, if it is given; a text that is one is taken for it.
    pub(crate) fn optional_number(&self, field: &str) -> Result<Option<f64>, CallError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        match number {
            Some(number) if number >= 1.0 && number.is_finite() => Ok(Some(number)),
            Some(_) => Err(self.error(field, "must be at least 1")),
            None => Err(self.error(field, &format!("must be a number, not {}", brief(value)))),
        }
    }

    /// A list, if it is given; a single value is taken for a list of one.
    pub(crate) fn list(&self, field: &str) -> Vec<&'a Value> {
        match self.get(field) {
            None => Vec::new(),
            Some(Value::Array(values)) => values.iter().collect(),
            Some(single) => vec![single],
        }
    }

    /// An error about one of the fields.
    pub(crate) fn error(&self, field: &str, what: &str) -> CallError {
        let dot = if self.path.is_empty() { "" } else { "." };
        CallError(format!("{}{dot}{field} {what}", self.path))
    }
}

/// A value short enough for an error message.
fn brief(value: &Value) -> String {
    pi_subagents_delegation::text::cut_characters(&value.to_string(), 40)
}
