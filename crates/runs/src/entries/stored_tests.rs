//! Entries of a pi session as they were written once: a change of format is noticed here.

use std::fs;
use std::path::Path;

use pi_subagents_vocabulary::{RunId, Timestamp};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::background::{
    DONE_MESSAGE, KeptBackgroundRuns, RUN_ENTRY, UPDATE_ENTRY, begin_of, end_of,
};
use super::{BEGUN_TYPE, BeginEntry, ENTRY_TYPE, EndEntry};

/// Returns the stored entries of a type.
fn stored(kind: &str) -> Vec<Value> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pi-session-entries.jsonl");
    let lines = fs::read_to_string(file).unwrap();
    let entries = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    entries
        .filter(|entry: &Value| entry["customType"] == kind)
        .collect()
}

#[test]
fn a_stored_entry_of_a_run_that_began_is_read_and_written_alike() {
    let [entry] = stored(BEGUN_TYPE).try_into().unwrap();
    let begun = BeginEntry::read(&entry).unwrap();
    assert_eq!(begun.run().unwrap().as_str(), "20261116-120000-000-abcdef");
    assert_eq!(begun.session().unwrap().as_str(), "3e60276890700027");
    assert_eq!(
        begun.accepted_at().unwrap().to_string(),
        "2026-11-16T12:00:00Z"
    );
    assert_eq!(begun.to_json(), entry["data"]);
}

#[test]
fn a_stored_entry_of_a_finished_run_is_read_and_written_alike() {
    let [entry] = stored(ENTRY_TYPE).try_into().unwrap();
    let finished = EndEntry::read(&entry).unwrap();
    assert_eq!((finished.name(), finished.exit_code()), ("notes", 0));
    assert_eq!(
        finished.history().output().as_deref(),
        Some("They say milk.")
    );
    assert_eq!(finished.to_json(), entry["data"]);
}

/// Returns the data of an entry with its times as they are written today.
fn with_milliseconds(data: &Value) -> Value {
    let mut data = data.clone();
    for field in data.as_object_mut().unwrap().values_mut() {
        if let Some(Ok(at)) = field.as_str().map(str::parse::<Timestamp>) {
            *field = json!(format!("{at:.3}"));
        }
    }
    data
}

#[test]
fn stored_entries_of_a_background_run_are_read_and_written_alike() {
    let [run] = stored(RUN_ENTRY).try_into().unwrap();
    let [update] = stored(UPDATE_ENTRY).try_into().unwrap();
    let [done] = stored(DONE_MESSAGE).try_into().unwrap();
    let begun = KeptBackgroundRuns::read(std::slice::from_ref(&run));
    let [row] = begun.rows.try_into().unwrap();
    assert_eq!(begin_of(&row), with_milliseconds(&run["data"]));
    let kept = KeptBackgroundRuns::read(&[run, update.clone(), done.clone()]);
    let [row] = kept.rows.try_into().unwrap();
    assert_eq!(end_of(&row), with_milliseconds(&update["data"]));
    let announced: Vec<&str> = kept.announced.iter().map(RunId::as_str).collect();
    assert_eq!(announced, [done["data"]["runId"].as_str().unwrap()]);
}
