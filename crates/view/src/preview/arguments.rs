//! Reads arguments, of any type that the model gave.

use std::borrow::Cow;

use pi_subagents_vocabulary::text::CUT_MARK;
use serde_json::Value;

/// The number of bytes of one argument that a preview shows.
const MAX_BYTES: usize = 4 * 1024;

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(&'a Value);

impl<'a> Arguments<'a> {
    pub(super) fn new(arguments: &'a Value) -> Self {
        Self(arguments)
    }

    pub(super) fn value(self) -> &'a Value {
        self.0
    }

    /// Returns the first of these arguments that is present; tools have several names for one
    /// thing.
    pub(super) fn get(self, names: &[&str]) -> Option<&'a Value> {
        names
            .iter()
            .find_map(|name| self.0.get(name).filter(|value| !value.is_null()))
    }

    /// Returns a text that must be there.
    pub(super) fn text(self, names: &[&str]) -> Cow<'a, str> {
        self.optional_text(names).unwrap_or(CUT_MARK.into())
    }

    /// Returns a text that may be missing.
    pub(super) fn optional_text(self, names: &[&str]) -> Option<Cow<'a, str>> {
        self.get(names).map(text)
    }

    /// Returns a whole text, for counting its lines; `None` if the argument is no text.
    pub(super) fn whole_text(self, names: &[&str]) -> Option<&'a str> {
        self.get(names)?.as_str()
    }

    /// Returns a number that may be missing; models also write numbers as texts.
    pub(super) fn optional_number(self, names: &[&str]) -> Option<String> {
        self.get(names).map(number)
    }

    /// Returns a list that may be missing; a single value is a list of one.
    pub(super) fn list(self, names: &[&str]) -> Option<Vec<Cow<'a, str>>> {
        Some(match self.get(names)? {
            Value::Array(values) => values.iter().map(text).collect(),
            value => vec![text(value)],
        })
    }
}

fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) if text.trim().is_empty() => CUT_MARK.into(),
        Value::String(text) => text[..text.floor_char_boundary(MAX_BYTES)].into(),
        _ => CUT_MARK.into(),
    }
}

fn number(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.parse::<u64>().is_ok() => text.clone(),
        _ => CUT_MARK.to_owned(),
    }
}
