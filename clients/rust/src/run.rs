//! Runs as the program reports them.

use serde::Deserialize;
use serde_json::Value;

/// A run. Fields that this version does not know are in [`Run::json`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Run {
    /// Its id.
    pub run_id: String,
    /// The id of its session, by which it is resumed.
    pub session_id: String,
    /// The name of its task.
    pub name: String,
    /// Where it stands.
    pub status: Status,
    /// How it ended, if it has.
    pub ending: Option<Ending>,
    /// The error in a sentence, if it has one.
    pub error_message: Option<String>,
    /// The answer.
    pub output: Option<String>,
    /// The result that meets the schema of the task.
    pub structured: Option<Value>,
    /// The model that answered.
    pub model: Option<String>,
    /// What it has used.
    #[serde(default)]
    pub usage: Usage,
    /// The whole object, as the program printed it.
    #[serde(skip)]
    pub json: Value,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Status {
    /// It waits for its turn.
    Queued,
    /// It is at work.
    Running,
    /// It waits for an answer of somebody.
    Waiting,
    /// It has done its task.
    Completed,
    /// It has failed.
    Failed,
    /// Somebody has stopped it.
    Stopped,
    /// A word of a newer program.
    #[serde(other)]
    Unknown,
}

impl Status {
    /// Returns whether nothing more happens.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Stopped)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Ending {
    /// The kind, such as `completed`, `timedOut` or `outOfTurns`.
    pub kind: String,
    /// The other fields, which depend on the kind.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that were read, without those from a cache.
    pub input: u64,
    /// Tokens that were written.
    pub output: u64,
    /// Tokens that were read from a cache.
    pub cache_read: u64,
    /// Tokens that were written into a cache.
    pub cache_write: u64,
    /// Dollars, if prices are known.
    pub cost: Option<f64>,
}

/// A message of a conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// Who said it, such as `user`, `assistant` or `toolResult`.
    pub role: String,
    /// Everything else.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

impl Run {
    pub(crate) fn read(json: &Value) -> Result<Self, crate::ClientError> {
        let run = Self::deserialize(json).map_err(|error| {
            crate::ClientError::new(
                crate::ErrorKind::Protocol,
                format!("a run cannot be read: {error}"),
            )
        })?;
        Ok(Self {
            json: json.clone(),
            ..run
        })
    }

    pub(crate) fn read_all(result: &Value) -> Result<Vec<Self>, crate::ClientError> {
        let runs = result["runs"].as_array().into_iter().flatten();
        runs.map(Self::read).collect()
    }
}
