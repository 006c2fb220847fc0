//! A run's state in the store, and the wish about it. A run without an entry is queued.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::order::SentLargeFile;
use super::session::SavedSession;

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum RunEntry {
    /// A worker has it.
    Running(Running),
    /// A worker gave it back; another worker takes it.
    Released(Released),
    /// It has ended, once and for all.
    Ended(Box<Ended>),
}

/// The entry of a run as it was found.
#[derive(Debug, Clone, PartialEq)]
pub enum SeenEntry {
    /// There is none: the run is queued, or not known.
    Nothing,
    /// The state of the run.
    State(RunEntry),
    /// The entry cannot be read, for this reason. Somebody has spoilt it.
    Unreadable(String),
}

impl SeenEntry {
    /// Reads the value of an entry.
    pub fn of(value: Option<&[u8]>) -> Self {
        match value.map(serde_json::from_slice) {
            None => Self::Nothing,
            Some(Ok(entry)) => Self::State(entry),
            Some(Err(error)) => Self::Unreadable(error.to_string()),
        }
    }

    /// Returns the state of the run, if there is one that can be read.
    pub fn state(&self) -> Option<&RunEntry> {
        match self {
            Self::State(entry) => Some(entry),
            Self::Nothing | Self::Unreadable(_) => None,
        }
    }
}

/// Workers that could not do a run, with their reasons.
pub type LeftBy = BTreeMap<String, String>;

/// A run that a worker has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// The worker's name.
    pub worker: String,
    /// The number of the delivery that it holds.
    pub n: u64,
    /// The time at which it took the run, by its clock.
    pub since: String,
    /// The number of this attempt; the first is 1.
    pub attempt: u32,
    /// This is true once its child was started. An attempt that was not begun is not counted.
    #[serde(default)]
    pub begun: bool,
    /// The number of times that the run was taken from a lost worker, begun or not.
    #[serde(default)]
    pub losses: u32,
    /// The workers that could not do it and left it to others, with their reasons.
    #[serde(default, skip_serializing_if = "LeftBy::is_empty")]
    pub left_by: LeftBy,
}

/// A run that a worker gave back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Released {
    /// The number of the delivery that ended so.
    pub n: u64,
    /// The worker's name.
    pub worker: String,
    /// The number of the next attempt.
    pub attempt: u32,
    /// The number of times that the run was taken from a lost worker.
    #[serde(default)]
    pub losses: u32,
    /// The workers that could not do it and left it to others, with their reasons.
    #[serde(default, skip_serializing_if = "LeftBy::is_empty")]
    pub left_by: LeftBy,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// The worker that ended it.
    pub worker: String,
    /// The number of the delivery that ended it.
    pub n: u64,
    /// The number of that attempt.
    pub attempt: u32,
    /// The run's state in one word.
    pub status: String,
    /// Its exit code.
    pub exit_code: i32,
    /// The time at which it ended, by the clock of whoever ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The ending, in the form of records.
    #[serde(default)]
    pub ending: Value,
    /// The files of its record with their lengths.
    #[serde(default)]
    pub files: BTreeMap<String, u64>,
    /// The place of its changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultName>,
    /// The places of its changes in submodules, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub submodules: BTreeMap<String, ResultName>,
    /// The reason why its changes are neither here nor there yet, if they could not be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent: Option<Unsent>,
    /// The conversation as it is after the run, if it continued one that the fleet keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SavedSession>,
    /// The parts of its record that its worker could not write, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<Unrecorded>,
    /// Its usage, in the form of records.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub usage: Value,
}

/// The parts that are missing in a record because its worker could not write them: its disk may be
/// full.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unrecorded {
    /// The problems as sentences.
    pub problems: Vec<String>,
    /// The last words of the run, which may not be in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

/// Changes that a worker could not send when their run ended: its disk may be full.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unsent {
    /// The directory on the worker in which they are kept until they can be sent; `None` if they are
    /// lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The reason, as a sentence.
    pub why: String,
}

/// Changes that a worker has sent after the end of their run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LateChanges {
    /// The number of the delivery that made them.
    pub n: u64,
    /// The place of its changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultName>,
    /// The places of its changes in submodules, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub submodules: BTreeMap<String, ResultName>,
}

/// The place of the changes of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultName {
    /// The object with the bundle.
    pub object: String,
    /// The ref in it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The commit.
    pub head: String,
    /// The number of commits that the run made.
    #[serde(default)]
    pub commits: u64,
    /// The number of files that the run left uncommitted.
    #[serde(default)]
    pub left_uncommitted: usize,
    /// The large files that git keeps apart and the run has added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lfs: Vec<SentLargeFile>,
}

/// The wishes of somebody for a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wish {
    /// It shall be stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopWish>,
    /// The caller has its whole record: the worker may remove its copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// The wish to stop a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopWish {
    /// The person who wishes it, as `user@machine`.
    pub by: String,
    /// The time of the wish, by the clock of that machine.
    pub at: String,
}

impl RunEntry {
    /// Returns the number of the delivery that the entry is about.
    pub fn n(&self) -> u64 {
        match self {
            Self::Running(running) => running.n,
            Self::Released(released) => released.n,
            Self::Ended(ended) => ended.n,
        }
    }

    /// Returns the worker that wrote the entry.
    pub fn worker(&self) -> &str {
        match self {
            Self::Running(running) => &running.worker,
            Self::Released(released) => &released.worker,
            Self::Ended(ended) => &ended.worker,
        }
    }

    /// Returns the workers that could not do the run, with their reasons.
    pub fn left_by(&self) -> LeftBy {
        match self {
            Self::Running(Running { left_by, .. }) | Self::Released(Released { left_by, .. }) => {
                left_by.clone()
            }
            Self::Ended(_) => LeftBy::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn entries_are_told_apart_by_their_state_and_what_is_unknown_is_left_out() {
        let text = r#"{"state":"running","worker":"a","n":2,"since":"now","attempt":1,"mood":1}"#;
        let entry: RunEntry = serde_json::from_str(text).unwrap();
        let expected = RunEntry::Running(Running {
            worker: "a".into(),
            n: 2,
            since: "now".into(),
            attempt: 1,
            begun: false,
            ..Running::default()
        });
        assert_eq!(entry, expected);
        let ended = RunEntry::Ended(Box::new(Ended {
            worker: "b".into(),
            n: 3,
            attempt: 2,
            status: "completed".into(),
            ..Ended::default()
        }));
        let text = serde_json::to_string(&ended).unwrap();
        let expected = r#"{"state":"ended","worker":"b","n":3,"attempt":2,"status":"completed","exitCode":0,"ending":null,"files":{}}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<RunEntry>(&text).unwrap(), ended);
    }
}
