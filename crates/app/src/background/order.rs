//! What a caller and the detached process tell each other: one line each way.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::caller_facts::CallerFacts;
use crate::caller::Caller;
use crate::counts::Counts;
use crate::error::CommandError;

/// What the detached process is to do. There is no secret in it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    /// The arguments of `background_agent`.
    pub(super) arguments: Value,
    /// Who asks.
    pub(super) caller: CallerFacts,
}

impl Order {
    pub(crate) fn new(arguments: &Value, caller: &Caller) -> Self {
        Self {
            arguments: arguments.clone(),
            caller: CallerFacts::of(caller),
        }
    }
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Reply {
    TakenOver(TakenOver),
    Refused(CommandError),
}

/// A run that has a process of its own now.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TakenOver {
    /// Where its record is, which says everything else.
    pub(crate) directory: PathBuf,
    /// The background runs of this user, with this one.
    pub(crate) counts: Counts,
    /// Why its task was refused, if it was: then it is over already.
    pub(crate) refusal: Option<String>,
    /// What the caller should know.
    pub(crate) warnings: Vec<String>,
}
