//! The entries that pi's session keeps of a background run: one when it begins, one when it ends,
//! and the message that announced the end.

use std::collections::HashSet;

use pi_subagents_vocabulary::{QuestionId, RunId, RunReport, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::row::RunRow;

/// The entry of a run that begins; its data is a [`RunRow`] in pi's words.
pub const RUN_ENTRY: &str = "pi-subagents:bg-run";

/// The entry of a run that is over; its data is what [`end_of`] returns.
pub const UPDATE_ENTRY: &str = "pi-subagents:bg-update";

/// The message a session gets when a run is over; its details are a [`Done`].
pub const DONE_MESSAGE: &str = "pi-subagents:bg-done";

/// The message a session gets when a run asks; its details are an [`Asks`].
pub const ASK_MESSAGE: &str = "pi-subagents:bg-ask";

/// The question that a message announces.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Asks {
    pub run_id: RunId,
    pub question: QuestionId,
}

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

/// Returns the data of the entry of a run that begins.
pub fn begin_of(row: &RunRow) -> Value {
    in_words_of_pi(json!(row))
}

/// Returns the data of the entry of a run that is over: what it did not have when it began.
pub fn end_of(row: &RunRow) -> Value {
    let mut data = in_words_of_pi(json!(row.report));
    if let Value::Object(fields) = &mut data {
        for known in KNOWN_AT_THE_BEGINNING {
            fields.shift_remove(known);
        }
    }
    data
}

/// The fields of a report that its first entry has and that do not change.
const KNOWN_AT_THE_BEGINNING: [&str; 8] = [
    "sessionId",
    "name",
    "acceptedAt",
    "preset",
    "task",
    "cwd",
    "runner",
    "requestedModel",
];

/// Puts the words of pi's session in the place of ours: `preset`, `resolvedModel` and `aborted`.
fn in_words_of_pi(mut data: Value) -> Value {
    let Value::Object(fields) = &mut data else {
        return data;
    };
    if fields
        .get("status")
        .is_some_and(|status| status == Status::Stopped.as_str())
    {
        fields.insert(
            "status".to_owned(),
            Status::Stopped.as_background_word().into(),
        );
    }
    if let Some(agent) = fields.shift_remove("agent") {
        fields.insert("preset".to_owned(), agent);
    }
    let provider = fields.shift_remove("provider");
    if let Some(Value::String(model)) = fields.shift_remove("model") {
        let full = match provider.as_ref().and_then(Value::as_str) {
            Some(provider) => format!("{provider}/{model}"),
            None => model,
        };
        fields.insert("resolvedModel".to_owned(), full.into());
    }
    data
}

/// Reads an entry in the words of pi's session.
fn in_our_words(fields: &mut Map<String, Value>) {
    if let Some(preset) = fields.shift_remove("preset") {
        fields.insert("agent".to_owned(), preset);
    }
    if let Some(Value::String(full)) = fields.shift_remove("resolvedModel") {
        let (provider, model) = match full.split_once('/') {
            Some((provider, model)) => (Some(provider), model),
            None => (None, full.as_str()),
        };
        fields.insert("model".to_owned(), model.into());
        if let Some(provider) = provider {
            fields.insert("provider".to_owned(), provider.into());
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CustomEntry {
    custom_type: String,
    data: Value,
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

    fn take(&mut self, mut entry: CustomEntry) -> serde_json::Result<()> {
        if let Value::Object(fields) = &mut entry.data {
            in_our_words(fields);
        }
        match entry.custom_type.as_str() {
            RUN_ENTRY => {
                let row: RunRow = serde_json::from_value(entry.data)?;
                let is_known = self
                    .rows
                    .iter()
                    .any(|known| known.report.run_id == row.report.run_id);
                // Without a directory nobody could ever learn how the run ends.
                if !is_known && row.artifacts.is_some() {
                    self.rows.push(row);
                }
            }
            UPDATE_ENTRY => self.end(entry.data)?,
            DONE_MESSAGE => {
                let done: Done = serde_json::from_value(entry.data)?;
                self.announced.insert(done.run_id);
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the end of a run whose beginning is known.
    fn end(&mut self, data: Value) -> serde_json::Result<()> {
        let mut fields: Map<String, Value> = serde_json::from_value(data)?;
        let id = fields.get("runId").cloned().unwrap_or_default();
        let mut rows = self.rows.iter_mut();
        if let Some(row) = rows.find(|row| id == row.report.run_id.as_str()) {
            let known = &row.report;
            fields.insert("sessionId".to_owned(), json!(known.session_id));
            fields.insert("name".to_owned(), json!(known.name));
            let end: RunReport = serde_json::from_value(fields.into())?;
            row.report.take_end(&end);
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
        assert_eq!(failed.report.exit_code, Some(7));
        assert_eq!(failed.report.full_model().as_deref(), Some("a/b"));
        assert_eq!(failed.report.task.as_deref(), Some("look"));
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
