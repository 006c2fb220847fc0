//! The files on disk as they were written once: a change of format is noticed here.
//!
//! If a test fails because something is written in another way, look at who reads it. The forms of
//! old records must still be read; then store the new form beside this file.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_records::{
    Finder, NewRun, OwnerName, RecordTail, RecordedRun, Recorder, RunDir, RunState, Store, history,
    read_events,
};
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Ending, EventSink as _, Happening, HeldMessages, RunEvent, RunId, RunSummary, Runner,
    SessionId, Started, Status, Task, Timestamp,
};
use pretty_assertions::assert_eq;
use serde_json::Value;

const RUN: &str = "20261116-120000-000-abcdef";
const SESSION: &str = "3e60276890700027";

fn fixture(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    fs::read_to_string(file).unwrap()
}

/// Puts the stored record where a store finds it.
fn stored() -> (tempfile::TempDir, Store, RunDir) {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("runs").join(RUN);
    fs::create_dir_all(&directory).unwrap();
    for name in [
        "meta.json",
        "events.jsonl",
        "result.json",
        "child-session.jsonl",
    ] {
        fs::write(directory.join(name), fixture(name)).unwrap();
    }
    let index = fixture("subagents-index.jsonl");
    let index = index.replace(
        "/project/.pi/subagents/runs",
        home.path().join("runs").to_str().unwrap(),
    );
    fs::write(home.path().join("subagents-index.jsonl"), index).unwrap();
    let store = Store::new(home.path());
    (home, store, RunDir::new(directory))
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn a_stored_record_is_read() {
    let (_home, _, directory) = stored();
    let record = RecordedRun::read(&directory).unwrap();
    assert_eq!(record.task.run.as_str(), RUN);
    assert_eq!(record.task.session.as_str(), SESSION);
    assert_eq!(record.task.prompt, "What do the notes say?");
    assert_eq!(record.accepted_at, at("2026-11-16T12:00:00Z"));
    assert_eq!(record.owner.pid, 4711);
    let end = record.end.unwrap();
    assert_eq!((end.status, end.exit_code), (Status::Completed, Some(0)));
    assert_eq!(end.output.as_deref(), Some("They say milk."));
    assert_eq!(end.usage.unwrap().input, 30);
    let history = history(&directory, HeldMessages::Newest).unwrap();
    assert_eq!(history.output().as_deref(), Some("They say milk."));
    assert_eq!(history.messages.len(), 2);
    assert_eq!(history.summary.warnings, ["careful"]);
    let mut times = Vec::new();
    read_events(&directory, |event| times.push(event.at)).unwrap();
    let times: Vec<String> = times.iter().map(|at| format!("{at:.3}")).collect();
    assert_eq!(
        times,
        [
            "2026-11-16T12:00:00.000Z",
            "2026-11-16T12:00:00.010Z",
            "2026-11-16T12:00:00.025Z",
            "2026-11-16T12:00:00.030Z",
            "2026-11-16T12:00:01.500Z",
            "2026-11-16T12:00:01.500Z",
            "2026-11-16T12:00:02.000Z",
        ]
    );
}

#[test]
fn a_stored_index_is_read() {
    let (_home, store, directory) = stored();
    let runs = store.runs().unwrap();
    let found = Finder::GIVEN.find(&runs, "3e60").unwrap().into_runs();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].directory, directory);
    assert_eq!(found[0].sequence, 1_794_830_400_000);
    let RunState::Over { status, at, .. } = found[0].state else {
        panic!("{found:?}");
    };
    assert_eq!(
        (status, at),
        (Status::Completed, self::at("2026-11-16T12:00:02Z"))
    );
}

#[test]
fn a_stored_session_of_a_child_gives_what_a_killed_owner_lost() {
    let (_home, store, directory) = stored();
    fs::remove_file(directory.result()).unwrap();
    let events = fixture("events.jsonl");
    let lost = events
        .find(r#"{"type":"run_at","at":"2026-11-16T12:00:01.500Z"}"#)
        .unwrap();
    fs::write(directory.events(), &events[..lost]).unwrap();
    let run = store.runs().unwrap().remove(0);
    assert!(store.close_interrupted(&run).unwrap());
    let history = history(&directory, HeldMessages::Newest).unwrap();
    assert_eq!(history.summary.status(), Status::Stopped);
    assert_eq!(history.output().as_deref(), Some("They say milk."));
}

#[test]
fn what_is_written_today_is_what_is_stored() {
    let home = tempfile::tempdir().unwrap();
    let (store, directory) = record_the_same(home.path());
    let here = home.path().to_str().unwrap();
    for name in ["meta.json", "events.jsonl", "result.json"] {
        let written = fs::read_to_string(directory.path().join(name)).unwrap();
        let mut stored = normalised(&fixture(name), "/project");
        for line in &mut stored {
            // Versions before this one wrote the command that continues the session.
            line.as_object_mut().unwrap().remove("resume");
        }
        assert_eq!(normalised(&written, here), stored, "{name}");
    }
    let index = fs::read_to_string(store.index()).unwrap();
    assert_eq!(
        normalised(&index, here),
        normalised(&fixture("subagents-index.jsonl"), "/project")
    );
}

/// Records the run of the fixtures once more.
fn record_the_same(project: &Path) -> (Store, RunDir) {
    let store = Store::new(project.join("agent"));
    let run = RunId::parse(RUN).unwrap();
    let directory = store.make_directory(Some(project), &run).unwrap();
    let task = Arc::new(Task {
        timeout: Some(std::time::Duration::from_mins(1)),
        directory: Some(directory.path().to_owned()),
        record_limit: 1 << 20,
        requested_model: Some("fake/model".to_owned()),
        ..Task::new(
            run.clone(),
            SessionId::parse(SESSION).unwrap(),
            "reader",
            "What do the notes say?",
            project.to_owned(),
        )
    });
    let owner = OwnerName {
        pid: 4711,
        start_time: 815,
        host: "here".to_owned(),
        socket: None,
        fleet: None,
        caller: None,
        detached: None,
    };
    let new = NewRun {
        task: &task,
        project,
        owner: &owner,
        runner: Some("embedded"),
        model: Some("fake/model"),
        tools: Some(vec!["read".to_owned()]),
        terms: None,
        system_prompt: None,
        sticky_agent: None,
    };
    store.begin(&new).unwrap();
    let mut recorder = Recorder::start(store.index()).unwrap();
    let mut summary = RunSummary::default();
    for (time, happening) in happenings(&task) {
        let event = RunEvent {
            run: run.clone(),
            at: at(time),
            happening,
        };
        summary.apply(&event);
        recorder.on_events(&[event], &summary);
    }
    recorder.settle();
    (store, directory)
}

fn happenings(task: &Arc<Task>) -> Vec<(&'static str, Happening)> {
    let said = |line: &'static str| {
        let ChildLine::Record(record) = decode(line.as_bytes()) else {
            panic!("{line} is no record");
        };
        let line = Bytes::from_static(line.as_bytes());
        Happening::Said { line, record }
    };
    let started = Started {
        runner: Runner::Embedded,
        child: 4713,
        keeper: 4712,
    };
    vec![
        (
            "2026-11-16T12:00:00Z",
            Happening::Accepted(Arc::clone(task)),
        ),
        ("2026-11-16T12:00:00.010Z", Happening::Started(started)),
        (
            "2026-11-16T12:00:00.025Z",
            said(
                r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"What do the notes say?"}]}}"#,
            ),
        ),
        (
            "2026-11-16T12:00:00.030Z",
            Happening::Warned("careful".to_owned()),
        ),
        (
            "2026-11-16T12:00:01.500Z",
            said(
                r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"They say milk."}],"provider":"fake","model":"model","stopReason":"stop","usage":{"input":30,"output":5,"cost":{"total":0.25}}}}"#,
            ),
        ),
        (
            "2026-11-16T12:00:01.500Z",
            said(r#"{"type":"agent_settled"}"#),
        ),
        ("2026-11-16T12:00:02Z", Happening::Ended(Ending::Completed)),
    ]
}

/// Returns JSON or JSON lines, without what differs from place to place and from time to time.
fn normalised(text: &str, project: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values
        .map(|value| {
            let mut value: Value = value.unwrap();
            normalise(&mut value, project);
            value
        })
        .collect()
}

fn normalise(value: &mut Value, project: &str) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                match name.as_str() {
                    "sequence" => *field = "a number".into(),
                    "mac" => *field = "a code".into(),
                    _ => normalise(field, project),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, project)),
        Value::String(text) => {
            if text.parse::<Timestamp>().is_ok() {
                "a time".clone_into(text);
            } else if let Some(inside) = text.strip_prefix(project) {
                *text = format!("$PROJECT{inside}");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_record_that_cannot_be_read_says_which_file_and_why() {
    let (_home, _, directory) = stored();
    let error = |file: &str, content: &str| {
        let (_home, _, directory) = stored();
        fs::write(directory.path().join(file), content).unwrap();
        let error = RecordedRun::read(&directory).unwrap_err();
        assert_eq!(error.file(), directory.path().join(file));
        assert!(!error.is_missing());
        error.reason().to_string()
    };
    assert_eq!(
        error("meta.json", "{"),
        "EOF while parsing an object at line 1 column 1"
    );
    let meta = fixture("meta.json");
    assert_eq!(
        error("meta.json", &meta.replace(RUN, "../up")),
        r#""../up" is not an id: it must have 1 to 64 letters, digits, "_" or "-""#
    );
    assert_eq!(
        error("result.json", "{}"),
        "missing field `format` at line 1 column 2"
    );
    fs::remove_file(directory.meta()).unwrap();
    for error in [
        RecordedRun::read(&directory).unwrap_err(),
        history(&directory, HeldMessages::Newest).unwrap_err(),
        RecordTail::new(&directory).next(1).unwrap_err(),
    ] {
        assert_eq!(error.file(), directory.meta());
        assert!(error.is_missing());
    }
}

#[test]
fn a_child_of_an_unknown_kind_is_not_taken_for_another_kind() {
    let (_home, _, directory) = stored();
    let events = fixture("events.jsonl");
    let unknown = events.replacen(r#""runner":"embedded""#, r#""runner":"cloud""#, 1);
    assert_ne!(unknown, events);
    fs::write(directory.events(), unknown).unwrap();
    let read = history(&directory, HeldMessages::Newest).unwrap();
    assert_eq!(read.summary.started_at, None);
    assert_eq!(read.output().as_deref(), Some("They say milk."));
}
