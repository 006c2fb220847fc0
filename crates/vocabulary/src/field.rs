//! The fields of a definition, one by one: their keys, their places and their values.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::{Dialect, Gate, Secret};

/// A field of a definition, in the order people read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    missing_docs,
    reason = "each is a field of Definition, described there"
)]
pub enum Field {
    Name,
    Description,
    Provider,
    Model,
    Thinking,
    Tools,
    NoTools,
    ExcludeTools,
    Extensions,
    NoExtensions,
    SuggestedSkills,
    LoadSkills,
    NoSkills,
    NoContextFiles,
    AppendSystemPrompt,
    ApiKey,
    ExtraArgs,
    Runner,
    Isolation,
    Timeout,
    Gate,
    OutputSchema,
    OutputSchemaFile,
    Finalize,
    Body,
}

/// The place of a field in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The key, as the dialect of the file spells it.
    pub key: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

/// The value of a field. It is printed for people: lists with commas, secrets masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A text, or the word for a choice.
    Text(&'a str),
    /// A text that is not to be shown.
    Secret(&'a Secret),
    /// Yes or no.
    Switch(bool),
    /// Names, which have no commas in them as a rule.
    Names(&'a [String]),
    /// Texts of any kind.
    Texts(&'a [String]),
    /// A time.
    Time(Duration),
    /// Gates.
    Gates(&'a [Gate]),
    /// Any value.
    Json(&'a Value),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Secret(secret) => write!(formatter, "{secret}"),
            Self::Switch(is_on) => write!(formatter, "{is_on}"),
            Self::Names(list) | Self::Texts(list) => formatter.write_str(&list.join(", ")),
            Self::Time(time) => write!(formatter, "{}s", time.as_secs_f64()),
            Self::Gates(gates) => {
                let commands: Vec<&str> = gates.iter().map(|gate| gate.command.as_str()).collect();
                formatter.write_str(&commands.join("; "))
            }
            Self::Json(value) => write!(formatter, "{value}"),
        }
    }
}

impl Field {
    /// All fields, in the order people read them.
    pub const ALL: [Self; 25] = [
        Self::Name,
        Self::Description,
        Self::Provider,
        Self::Model,
        Self::Thinking,
        Self::Tools,
        Self::NoTools,
        Self::ExcludeTools,
        Self::Extensions,
        Self::NoExtensions,
        Self::SuggestedSkills,
        Self::LoadSkills,
        Self::NoSkills,
        Self::NoContextFiles,
        Self::AppendSystemPrompt,
        Self::ApiKey,
        Self::ExtraArgs,
        Self::Runner,
        Self::Isolation,
        Self::Timeout,
        Self::Gate,
        Self::OutputSchema,
        Self::OutputSchemaFile,
        Self::Finalize,
        Self::Body,
    ];

    /// Returns the key that the files of a dialect use for this field.
    pub fn key(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Self::Tools, Dialect::Prompt) => "approved_tools",
            (Self::ExcludeTools, Dialect::Prompt) => "denied_tools",
            (Self::Name, _) => "name",
            (Self::Description, _) => "description",
            (Self::Provider, _) => "provider",
            (Self::Model, _) => "model",
            (Self::Thinking, _) => "thinkingLevel",
            (Self::Tools, _) => "tools",
            (Self::NoTools, _) => "noTools",
            (Self::ExcludeTools, _) => "excludeTools",
            (Self::Extensions, _) => "extensions",
            (Self::NoExtensions, _) => "noExtensions",
            (Self::SuggestedSkills, _) => "suggestedSkills",
            (Self::LoadSkills, _) => "loadSkills",
            (Self::NoSkills, _) => "noSkills",
            (Self::NoContextFiles, _) => "noContextFiles",
            (Self::AppendSystemPrompt, _) => "appendSystemPrompt",
            (Self::ApiKey, _) => "apiKey",
            (Self::ExtraArgs, _) => "extraArgs",
            (Self::Runner, _) => "runner",
            (Self::Isolation, _) => "isolation",
            (Self::Timeout, _) => "timeout",
            (Self::Gate, _) => "gate",
            (Self::OutputSchema, _) => "outputSchema",
            (Self::OutputSchemaFile, _) => "outputSchemaFile",
            (Self::Finalize, _) => "finalize",
            (Self::Body, _) => "body",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_key_of_its_own_in_every_dialect() {
        for dialect in Dialect::ALL {
            let keys: std::collections::BTreeSet<_> =
                Field::ALL.iter().map(|field| field.key(dialect)).collect();
            assert_eq!(keys.len(), Field::ALL.len());
        }
    }
}
