use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_records::{Detached, IndexedRun, OwnerName, RecordedRun, RunDir, RunState, Used};
use pi_subagents_vocabulary::{
    Ending, ModelChoice, Receipt, RunTerms, Status, StopReason, Task, Timestamp, Usage,
    UsedDefinition,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_794_000_000 + second).unwrap()
}

fn owner() -> OwnerName {
    OwnerName {
        pid: 7,
        start_time: 1,
        host: "elsewhere".to_owned(),
        socket: None,
        fleet: None,
        caller: None,
        detached: Some(Detached {
            pi_session: Some("pi-1".to_owned()),
        }),
    }
}

fn indexed(state: RunState) -> IndexedRun {
    IndexedRun {
        run: RunId::parse("r1").unwrap(),
        session: SessionId::parse("talk").unwrap(),
        name: "look".to_owned(),
        preset: Some("scout".to_owned()),
        model: None,
        directory: RunDir::new("/runs/r1"),
        project: PathBuf::from("/project"),
        accepted_at: at(0),
        sequence: 1,
        owner: Arc::new(owner()),
        state,
    }
}

fn recorded(end: Option<RunReport>) -> RecordedRun {
    let task = Task {
        definition: Some(UsedDefinition {
            name: "scout".to_owned(),
            summary: "scout".to_owned(),
            model: ModelChoice::Inherit,
            file: None,
        }),
        directory: Some(PathBuf::from("/runs/r1")),
        requested_model: Some("small".to_owned()),
        ..Task::new(
            RunId::parse("r1").unwrap(),
            SessionId::parse("talk").unwrap(),
            "look",
            "look around",
            PathBuf::from("/project/src"),
        )
    };
    RecordedRun {
        task: Arc::new(task),
        directory: RunDir::new("/runs/r1"),
        project: PathBuf::from("/project"),
        owner: owner(),
        runner: Some("pi".to_owned()),
        model: Some("test/small".to_owned()),
        terms: RunTerms::default(),
        sticky_agent: None,
        accepted_at: at(0),
        messages: 0,
        end,
    }
}

fn end() -> RunReport {
    let (run, session) = (
        RunId::parse("r1").unwrap(),
        SessionId::parse("talk").unwrap(),
    );
    let mut end = RunReport::new(run, session, "look".to_owned(), at(0));
    end.take_ending(Ending::ModelError {
        message: "no key".to_owned(),
    });
    end.output = Some("half".to_owned());
    end.set_full_model("test/large");
    end.stop_reason = Some(StopReason::Error);
    end.usage = Some(Usage {
        input: 5,
        cost: Some(0.25),
        ..Usage::default()
    });
    end.tool_calls = Some(3);
    end.receipt = Some(Box::new(Receipt {
        turns: 2,
        tools: [("read".to_owned(), 3)].into(),
        ..Receipt::default()
    }));
    end.started_at = Some(at(2));
    end.ended_at = Some(at(9));
    end
}

fn over() -> RunState {
    RunState::Over {
        status: Status::Stopped,
        exit_code: 143,
        at: at(10),
        used: None,
    }
}

#[test]
fn a_row_has_what_is_known() {
    let short = RunRow::of_index(&indexed(RunState::Open));
    assert_eq!(
        json!(short),
        json!({
            "runId": "r1", "sessionId": "talk", "name": "look", "status": "running",
            "acceptedAt": "2026-11-06T21:20:00.000Z", "agent": "scout", "background": true,
            "project": "/project",
            "ownerPid": 7, "directory": "/runs/r1",
        })
    );
    let full = json!(RunRow::of_index_and_record(
        &indexed(over()),
        &recorded(Some(end()))
    ));
    assert_eq!(
        full,
        json!({
            "runId": "r1", "sessionId": "talk", "name": "look", "agent": "scout",
            "task": "look around", "cwd": "/project/src", "runner": "pi",
            "requestedModel": "small", "provider": "test", "model": "large", "piSession": "pi-1",
            "status": "stopped", "exitCode": 143, "errorMessage": "no key", "output": "half",
            "ending": {"kind": "modelError", "message": "no key"},
            "stopReason": "error", "artifacts": {"directory": "/runs/r1"},
            "acceptedAt": "2026-11-06T21:20:00.000Z", "startedAt": "2026-11-06T21:20:02.000Z",
            "endedAt": "2026-11-06T21:20:10.000Z",
            "usage": {
                "input": 5, "output": 0, "cacheRead": 0, "cacheWrite": 0,
                "cost": 0.25,
            },
            "toolCalls": 3,
            "receipt": {
                "turns": 2, "tools": {"read": 3}, "toolErrors": 0, "models": [],
                "files": {"changed": [], "edits": 0, "source": "calls"},
                "commands": [], "commandCount": 0, "tests": {"state": "notSeen"}, "flags": [],
            },
            "background": true, "project": "/project", "ownerPid": 7, "directory": "/runs/r1",
        })
    );
}

#[test]
fn the_index_knows_what_a_run_used() {
    let used = Used {
        calls: 2,
        usage: Usage {
            output: 8,
            ..Usage::default()
        },
    };
    let over = RunState::Over {
        status: Status::Completed,
        exit_code: 0,
        at: at(10),
        used: Some(used),
    };
    let row = RunRow::of_index(&indexed(over));
    let known = (row.report.usage, row.report.tool_calls);
    assert_eq!(known, (Some(used.usage), Some(2)));
    // The record knows it as well as the index.
    let row = RunRow::of_index_and_record(&indexed(over), &recorded(Some(end())));
    assert_eq!(row.report.tool_calls, Some(3));
}

#[test]
fn a_recorded_end_counts_before_the_index_knows_it() {
    let row = RunRow::of_index_and_record(&indexed(RunState::Open), &recorded(Some(end())));
    assert_eq!(
        (row.report.status, row.report.exit_code),
        (Status::Failed, Some(1))
    );
    let running = RunRow::of_index_and_record(&indexed(RunState::Open), &recorded(None));
    let running = running.report;
    assert_eq!(
        (running.status, running.ending.as_deref()),
        (Status::Running, None)
    );
    assert_eq!(running.full_model().as_deref(), Some("test/small"));
}

#[test]
fn a_row_is_read_as_it_was_written() {
    for row in [
        RunRow::of_index(&indexed(over())),
        RunRow::of_record(&recorded(Some(end()))),
        RunRow::of_record(&recorded(None)).without_owner(),
    ] {
        let read: RunRow = serde_json::from_value(json!(row)).unwrap();
        assert_eq!(read, row);
    }
}

#[test]
fn a_run_lasts_from_its_start_to_its_end_or_until_now() {
    let seconds = |row: &RunRow| row.lasted(at(60)).map(|lasted| lasted.as_secs());
    assert_eq!(
        seconds(&RunRow::of_index(&indexed(RunState::Open))),
        Some(60)
    );
    assert_eq!(seconds(&RunRow::of_index(&indexed(over()))), Some(10));
    let mut row = RunRow::of_record(&recorded(Some(end())));
    assert_eq!(seconds(&row), Some(7));
    row.report.ended_at = None;
    assert_eq!(seconds(&row), None);
    // The clock of a machine may have been set back.
    row.report.ended_at = Some(at(0));
    assert_eq!(row.lasted(at(60)), Some(Duration::ZERO));
}

#[test]
fn a_run_in_one_line() {
    let row = RunRow::of_record(&recorded(Some(end())));
    assert_eq!(
        row.used_words(at(60)),
        "3 tool calls • 5 tokens • $0.25 • 7s"
    );
    assert_eq!(
        row.sentence(at(60)),
        "scout: failed after 7.0s — no key (run: r1, session: talk)"
    );
    assert_eq!(row.brief(), "look: failed (session: talk)");
    assert_eq!(row.outcome_line(), "no key");
    let running = RunRow::of_index(&indexed(RunState::Open));
    assert_eq!(
        running.sentence(at(60)),
        "scout: running for 1m 00s (run: r1, session: talk)"
    );
}
