use std::path::PathBuf;

use pi_subagents_vocabulary::Status;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_794_000_000 + second).unwrap()
}

fn task(run: &str, session: &str) -> Task {
    Task::new(
        RunId::parse(run).unwrap(),
        SessionId::parse(session).unwrap(),
        format!("task {run}"),
        "p",
        PathBuf::from("/project"),
    )
}

/// Makes the entry of a run that has completed.
fn finished(run: &str, session: &str) -> Value {
    json!({"customType": "pi-subagents", "data": {
        "runId": run, "sessionId": session, "taskName": run, "status": "completed",
        "exitCode": 0, "startedAt": 1_794_000_000_000_i64, "model": "m", "stopReason": "stop",
    }})
}

fn background(run: &str, session: &str) -> RunRow {
    let mut row = RunRow::of_task(&task(run, session), at(0));
    row.report.status = Status::Running;
    row.pi_session = Some("pi-1".to_owned());
    row
}

fn opened(entries: &[Value]) -> SessionRuns {
    let runs = SessionRuns::default();
    runs.open(&session("pi-1", entries));
    runs
}

fn session<'a>(id: &'a str, entries: &'a [Value]) -> StartedSession<'a> {
    StartedSession {
        id,
        is_new: false,
        entries,
    }
}

fn ids(runs: &[SessionRun]) -> Vec<&str> {
    runs.iter().map(|run| run.run_id().as_str()).collect()
}

fn found(runs: &SessionRuns, id: &str) -> Result<String, String> {
    let found = runs
        .find(id, Prefers::Newest)
        .map_err(|error| error.to_string())?;
    Ok(ids(&found.into_runs()).join(" "))
}

#[test]
fn runs_of_every_kind_are_found_by_their_ids() {
    let runs = opened(&[finished("r1", "talk"), finished("r2", "other")]);
    runs.began("pi-1", &task("r3", "talk"), at(1));
    assert!(runs.put_background("pi-1", &background("bg1", "back-1")));
    assert!(runs.put_background("pi-1", &background("bg2", "back-2")));
    for (id, expected) in [
        ("r1", "r1"),
        ("talk", "r1 r3"),
        ("back", "ambiguous"),
        ("back-1", "bg1"),
        ("othe", "r2"),
    ] {
        let answer = found(&runs, id).unwrap_or_else(|error| {
            assert!(error.contains("is the beginning of several ids"), "{error}");
            "ambiguous".to_owned()
        });
        assert_eq!(answer, expected, "{id}");
    }
    assert_eq!(
        found(&runs, "nobody"),
        Err("there is no run or session \"nobody\"".to_owned())
    );
}

#[test]
fn runs_of_another_session_of_pi_are_not_taken_in() {
    let runs = opened(&[]);
    runs.began("pi-2", &task("r1", "talk"), at(1));
    assert!(!runs.put_background("pi-2", &background("bg1", "back")));
    assert!(runs.all().is_empty());
}

#[test]
fn a_second_start_keeps_the_runs_under_way_and_their_order() {
    let entries = [finished("r1", "talk")];
    let runs = opened(&entries);
    runs.began("pi-1", &task("r2", "talk"), at(1));
    runs.put_background("pi-1", &background("bg1", "back"));
    runs.open(&session("pi-1", &entries));
    assert_eq!(ids(&runs.all()), ["r1", "r2", "bg1"]);
    assert_eq!(runs.background_counts().under_way(), 1);
    let entry = Arc::new(EndEntry::read(&finished("r2", "talk")).unwrap());
    runs.ended(&RunId::parse("r2").unwrap(), &entry);
    assert_eq!(ids(&runs.all()), ["r1", "r2", "bg1"]);
    runs.open(&session("pi-2", &[]));
    assert!(runs.all().is_empty());
}

#[test]
fn the_last_entry_of_a_run_counts_and_entries_without_ids_are_skipped() {
    let mut failed = finished("r1", "talk");
    failed["data"]["status"] = json!("error");
    let mut nameless = finished("r2", "talk");
    nameless["data"]["runId"] = Value::Null;
    let runs = opened(&[finished("r1", "talk"), nameless, failed]);
    let all = runs.all();
    assert_eq!(ids(&all), ["r1"]);
    assert_eq!(all[0].row.report.status, Status::Failed);
}

/// Returns the runs whose entries are still held.
fn held(runs: &SessionRuns) -> Vec<String> {
    let runs = runs.all().into_iter();
    let held = runs.filter(|run| run.entry.is_some());
    held.map(|run| run.run_id().to_string()).collect()
}

#[test]
fn the_entries_of_the_newest_sessions_are_held() {
    let entries: Vec<Value> = (0..40)
        .map(|number| finished(&format!("r{number:02}"), &format!("s{number:02}")))
        .collect();
    let runs = opened(&entries);
    let held = held(&runs);
    assert_eq!((held.len(), held[0].as_str()), (32, "r08"));
    // Their directories may still be there.
    assert_eq!(found(&runs, "r00"), Ok("r00".to_owned()));
}

#[test]
fn of_one_session_the_newest_runs_are_held_and_a_running_session_is_never_dropped() {
    let mut entries: Vec<Value> = (0..12)
        .map(|number| finished(&format!("r{number:02}"), "talk"))
        .collect();
    let runs = opened(&entries);
    assert_eq!(held(&runs).first().map(String::as_str), Some("r02"));
    entries.extend((0..40).map(|number| finished(&format!("x{number:02}"), &format!("s{number}"))));
    runs.began("pi-1", &task("going", "talk"), at(1));
    runs.open(&session("pi-1", &entries));
    assert!(held(&runs).contains(&"r11".to_owned()));
}
