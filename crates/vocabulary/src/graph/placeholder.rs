//! The placeholders of a prompt, which get their values when its task begins.

use std::fmt;

use serde_json::Value;

/// A place in a prompt that gets a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placeholder {
    /// A value of the result of a task.
    Result(ResultValue),
    /// The item of a map, or a part of it.
    Item(Vec<String>),
    /// The number of the item, from 1.
    Index,
}

/// A value in the result of a task that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultValue {
    /// The name of the task.
    pub task: String,
    /// The words behind it: `output`, or `structured`, `receipt` and `workspace` with the keys of a
    /// part.
    pub path: Vec<String>,
}

impl fmt::Display for ResultValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.task, self.path.join("."))
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(value) => write!(formatter, "{{{{{value}}}}}"),
            Self::Item(path) => {
                let words = ["item"].into_iter().chain(path.iter().map(String::as_str));
                let words: Vec<&str> = words.collect();
                write!(formatter, "{{{{{}}}}}", words.join("."))
            }
            Self::Index => formatter.write_str("{{index}}"),
        }
    }
}

/// Returns the part of a value to which these keys lead; the key of a list is a number from 0.
pub(super) fn part_of<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| match value {
        Value::Object(fields) => fields.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Writes a value into a prompt: a text as it is, everything else as JSON.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}
