//! The entries that pi's session keeps of a background run: one when it begins, one when it ends,
//! and the message that announced the end.

use std::collections::HashSet;

use pi_subagents_vocabulary::{RunId, Status};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::row::{RowEnd, RunRow};

/// The entry of a run that begins; its data is a [`RunRow`].
pub const RUN_ENTRY: &str = "pi-subagents:bg-run";

/// The entry of a run that is over; its data is a [`RunUpdate`].
pub const UPDATE_ENTRY: &str = "pi-subagents:bg-update";

/// The message a session gets when a run is over; its details are a [`Done`].
pub const DONE_MESSAGE: &str = "pi-subagents:bg-done";

/// The run that a message announces.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    pub run_id: RunId,
}

/// The background runs of a session, from its entries.
#[derive(Debug, Default)]
pub struct KeptBackgroundRuns {
    /// In the order they began.
    pub(crate) rows: Vec<RunRow>,
    /// The runs whose end was announced.
    pub announced: HashSet<RunId>,
}

/// The news of a run that is over.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunUpdate {
    run_id: RunId,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_model: Option<String>,
    #[serde(flatten)]
    end: RowEnd,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CustomEntry {
    custom_type: String,
    data: Value,
}

impl RunUpdate {
    /// Takes the news from the row of a run that is over.
    pub fn of(row: &RunRow) -> Self {
        Self {
            run_id: row.run_id.clone(),
            status: row.status,
            resolved_model: row.resolved_model.clone(),
            end: row.end.clone(),
        }
    }

    fn apply(self, row: &mut RunRow) {
        row.status = self.status;
        row.end = self.end;
        if self.resolved_model.is_some() {
            row.resolved_model = self.resolved_model;
        }
    }
}

impl KeptBackgroundRuns {
    /// Reads the entries of a session, each `{customType, data}`, and skips all that are not ours.
    pub(crate) fn read(entries: &[Value]) -> Self {
        let mut kept = Self::default();
        for entry in entries {
            if let Ok(entry) = CustomEntry::deserialize(entry) {
                // Somebody may have edited the session file: an entry that does not fit is skipped.
                _ = kept.take(entry);
            }
        }
        kept
    }

    fn take(&mut self, entry: CustomEntry) -> serde_json::Result<()> {
        match entry.custom_type.as_str() {
            RUN_ENTRY => {
                let row: RunRow = serde_json::from_value(entry.data)?;
                let is_known = self.rows.iter().any(|known| known.run_id == row.run_id);
                // Without a directory nobody could ever learn how the run ends.
                if !is_known && row.artifacts.is_some() {
                    self.rows.push(row);
                }
            }
            UPDATE_ENTRY => {
                let update: RunUpdate = serde_json::from_value(entry.data)?;
                let mut rows = self.rows.iter_mut();
                if let Some(row) = rows.find(|row| row.run_id == update.run_id) {
                    update.apply(row);
                }
            }
            DONE_MESSAGE => {
                let done: Done = serde_json::from_value(entry.data)?;
                self.announced.insert(done.run_id);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(custom_type: &str, data: &Value) -> Value {
        json!({"customType": custom_type, "data": data})
    }

    fn begun(run: &str) -> Value {
        let file = |name: &str| format!("/runs/{run}/{name}");
        entry(
            RUN_ENTRY,
            &json!({
                "runId": run, "sessionId": "talk", "name": "worker", "status": "running",
                "task": "look", "cwd": "/project", "acceptedAt": "2026-01-02T03:04:05Z",
                "artifacts": {
                    "directory": format!("/runs/{run}"), "meta": file("meta.json"),
                    "events": file("events.jsonl"), "result": file("result.json"),
                    "stdout": file("stdout.log"), "stderr": file("stderr.log"),
                    "transcript": file("transcript.md"), "childSession": file("session.jsonl"),
                    "systemPrompt": file("system.md"),
                },
            }),
        )
    }

    #[test]
    fn a_session_knows_its_background_runs_by_its_entries() {
        let kept = KeptBackgroundRuns::read(&[
            begun("r1"),
            begun("r2"),
            begun("r1"),
            entry(
                UPDATE_ENTRY,
                &json!({
                    "runId": "r2", "status": "failed", "resolvedModel": "a/b",
                    "endedAt": "2026-01-02T03:04:08Z", "exitCode": 7, "errorMessage": "no",
                }),
            ),
            entry(DONE_MESSAGE, &json!({"runId": "r2"})),
        ]);
        let rows: Vec<_> = kept.rows.iter().map(RunRow::brief).collect();
        assert_eq!(
            rows,
            [
                "worker: running (session: talk)",
                "worker: failed (session: talk)"
            ]
        );
        let failed = &kept.rows[1];
        assert_eq!(failed.end.exit_code, Some(7));
        assert_eq!(failed.resolved_model.as_deref(), Some("a/b"));
        assert_eq!(failed.task.as_deref(), Some("look"));
        let announced: Vec<&str> = kept.announced.iter().map(RunId::as_str).collect();
        assert_eq!(announced, ["r2"]);
    }

    #[test]
    fn entries_that_do_not_fit_are_skipped() {
        let mut without_directory = begun("r1");
        without_directory["data"]["artifacts"] = Value::Null;
        let mut without_time = begun("r1");
        without_time["data"]["acceptedAt"] = json!("yesterday");
        let mut outside = begun("r1");
        outside["data"]["runId"] = json!("../r1");
        for strange in [
            json!(7),
            json!({"data": {}}),
            entry("other", &begun("r1")["data"]),
            entry(RUN_ENTRY, &json!({"runId": "r1"})),
            entry(UPDATE_ENTRY, &json!({"runId": "r1", "status": "completed"})),
            entry(DONE_MESSAGE, &json!(null)),
            without_directory,
            without_time,
            outside,
        ] {
            let kept = KeptBackgroundRuns::read(std::slice::from_ref(&strange));
            assert!(
                kept.rows.is_empty() && kept.announced.is_empty(),
                "{strange}"
            );
        }
    }
}
