//! A run as the index tells of it, in the JSON of `status`.

use std::path::Path;

use pi_subagents_sessions::{IndexedRun, RunState};
use serde::Serialize;
use serde_json::Value;

use crate::runs::find::status_of;
use crate::runs::owned::OwnerProcess as _;
use crate::runs::row::Row;

/// What `status --json` prints.
#[derive(Serialize)]
pub(crate) struct StatusJson<'a> {
    pub(crate) counts: Value,
    pub(crate) runs: Vec<RunRow<'a>>,
}

impl StatusJson<'_> {
    /// As one line.
    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A run of it. There may be very many, so only those with a record become values of their own.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum RunRow<'a> {
    Short(IndexRow<'a>),
    Full(Value),
}

/// What the index tells.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IndexRow<'a> {
    run_id: &'a str,
    session_id: &'a str,
    name: &'a str,
    status: &'a str,
    exit_code: Option<i32>,
    background: bool,
    project: &'a Path,
    accepted_at: String,
    ended_at: Option<String>,
    owner_pid: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    owner_stopped: bool,
    directory: &'a Path,
}

impl<'a> IndexRow<'a> {
    pub(crate) fn of(run: &'a IndexedRun) -> Self {
        let (ended_at, exit_code) = match run.state {
            RunState::Open => (None, None),
            RunState::Over { at, exit_code, .. } => (Some(at.to_string()), Some(exit_code)),
        };
        Self {
            run_id: run.run.as_str(),
            session_id: run.session.as_str(),
            name: &run.name,
            status: status_of(run).as_str(),
            exit_code,
            background: run.is_background(),
            project: &run.project,
            accepted_at: run.accepted_at.to_string(),
            ended_at,
            owner_pid: run.owner.pid,
            owner_stopped: run.is_open() && run.is_owner_stopped(),
            directory: run.directory.path(),
        }
    }

    /// The same with what the record tells.
    pub(crate) fn with(self, told: &Row) -> Value {
        let mut row = serde_json::to_value(self).unwrap_or_default();
        let told = serde_json::to_value(told).unwrap_or_default();
        if let (Value::Object(row), Value::Object(told)) = (&mut row, told) {
            for (field, value) in told {
                row.entry(field).or_insert(value);
            }
        }
        row
    }
}
