//! The entry that pi's session gets when a run begins: enough to find the run again if its host is
//! killed and cannot write down the end.

use std::path::PathBuf;

use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{RunId, RunReport, SessionId, Status, Task, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The type of these entries.
pub const BEGUN_TYPE: &str = "pi-subagents:run";

/// A run that was taken on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BeginEntry {
    run_id: String,
    session_id: String,
    task_name: String,
    accepted_at: String,
    directory: PathBuf,
}

impl BeginEntry {
    /// Makes the entry; `None` for a run without a directory, because it could not be found again.
    pub fn of(task: &Task, at: Timestamp) -> Option<Self> {
        Some(Self {
            run_id: task.run.to_string(),
            session_id: task.session.to_string(),
            task_name: task.name.clone(),
            accepted_at: at.to_string(),
            directory: task.directory.clone()?,
        })
    }

    /// Reads `{customType, data}`; `None` if it is no entry of ours or cannot be read.
    pub fn read(entry: &Value) -> Option<Self> {
        if entry.get("customType")?.as_str()? != BEGUN_TYPE {
            return None;
        }
        Self::deserialize(entry.get("data")?).ok()
    }

    /// Returns the entry as pi stores it.
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    pub fn run(&self) -> Option<RunId> {
        RunId::parse(&self.run_id).ok()
    }

    pub(crate) fn session(&self) -> Option<SessionId> {
        SessionId::parse(&self.session_id).ok()
    }

    /// Returns the report of the run, of whose end pi's session does not know; `None` if its time
    /// or its ids cannot be read.
    pub(crate) fn report(&self) -> Option<RunReport> {
        let (run, session, at) = (self.run()?, self.session()?, self.accepted_at()?);
        let mut report = RunReport::new(run, session, self.task_name.clone(), at);
        report.status = Status::Stopped;
        Some(report)
    }

    pub(crate) fn accepted_at(&self) -> Option<Timestamp> {
        self.accepted_at.parse().ok()
    }

    pub fn directory(&self) -> RunDir {
        RunDir::new(&self.directory)
    }
}
