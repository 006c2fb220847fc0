//! The envelope of all JSON that commands print.

use pi_subagents_vocabulary::SCHEMA_VERSION;
use schemars::JsonSchema;
use serde::Serialize;

/// A JSON object as a command prints it: its version and its kind come before its content.
#[derive(Debug, Serialize)]
pub struct Envelope<T> {
    #[serde(flatten)]
    head: EnvelopeHead,
    #[serde(flatten)]
    content: T,
}

/// The fields that every JSON object has that a command prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvelopeHead {
    /// The version of the schema. It grows when a field is renamed, removed or changes its meaning.
    schema_version: u32,
    /// The kind of object.
    #[serde(rename = "type")]
    kind: EnvelopeKind,
}

/// The kinds of objects that commands print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EnvelopeKind {
    /// The result of a command.
    Result,
    /// An event of a run, as `--json-stream` prints it.
    Event,
    /// The reason why a command has no result.
    Error,
    /// One run, as a program gets it that is started when the run ends.
    Run,
}

impl<T: Serialize> Envelope<T> {
    /// Puts a content into an envelope.
    pub fn new(kind: EnvelopeKind, content: T) -> Self {
        Self {
            head: EnvelopeHead {
                schema_version: SCHEMA_VERSION,
                kind,
            },
            content,
        }
    }
}
