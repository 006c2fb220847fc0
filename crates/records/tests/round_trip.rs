//! The records that the recorder writes are read back unchanged, also after a crash.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use pi_subagents_records::transcript::Prompts;
use pi_subagents_records::{
    Candidate, Detached, FindError, Finder, IndexedRun, NewRun, NoticeOf, OwnerName, RecordTail,
    RecordedRun, Recorder, RunDir, RunOrSession, RunState, Store, Survey, SurveyDepth, history,
    read_events, transcript,
};
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    DecisionKind, Ending, EventSink as _, Happening, HeldMessages, QuestionId, RunEvent,
    RunHistory, RunId, RunSummary, Runner, SessionId, Started, Status, Task, Timestamp,
};
use pretty_assertions::assert_eq;

const PROMPT: &str = r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"FILES AND TRANSCRIPT the prompt"}]}}"#;
const CALL: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"toolCall","id":"1","name":"read","arguments":{"path":"$&.txt"}}],"stopReason":"toolUse","usage":{"input":10,"output":5,"cost":{"total":0.5}}}}"#;
const RESULT: &str = r#"{"type":"message_end","message":{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"TEXT"}],"isError":false}}"#;
const ANSWER: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"model":"m","stopReason":"stop","usage":{"input":20,"output":5,"cost":{"total":0.25}}}}"#;

/// A store in a temporary home, with one run that has begun.
struct Desk {
    home: tempfile::TempDir,
    detached: Option<Detached>,
    record_limit: u64,
    store: Store,
    recorder: Recorder,
    summaries: HashMap<RunId, RunSummary>,
}

impl Desk {
    fn survey(&self) -> Survey {
        let project = self.home.path();
        self.store.survey(project, SurveyDepth::Facts).unwrap()
    }

    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("agent"));
        let recorder = Recorder::start(store.index()).unwrap();
        Self {
            home,
            detached: None,
            record_limit: 1 << 30,
            store,
            recorder,
            summaries: HashMap::new(),
        }
    }

    fn begin(&self, run: &str, session: &str) -> Arc<Task> {
        let run = RunId::parse(run).unwrap();
        let directory = self
            .store
            .make_directory(Some(self.home.path()), &run)
            .unwrap();
        let task = Arc::new(Task {
            directory: Some(directory.path().to_owned()),
            record_limit: self.record_limit,
            ..Task::new(
                run,
                SessionId::parse(session).unwrap(),
                "reader",
                "the prompt",
                self.home.path().to_owned(),
            )
        });
        let owner = OwnerName {
            pid: 1,
            start_time: 1,
            host: "here".to_owned(),
            socket: None,
            fleet: None,
            caller: None,
            detached: self.detached.clone(),
        };
        self.store
            .begin(&NewRun {
                task: &task,
                project: self.home.path(),
                owner: &owner,
                runner: Some("pi"),
                model: None,
                tools: None,
                terms: None,
                system_prompt: None,
                sticky_agent: None,
            })
            .unwrap();
        task
    }

    fn record(&mut self, task: &Arc<Task>, happenings: Vec<Happening>) {
        for happening in happenings {
            self.record_events(&[RunEvent {
                run: task.run.clone(),
                at: Timestamp::now(),
                happening,
            }]);
        }
        self.recorder.settle();
    }

    /// Records events of one run that came at once.
    fn record_events(&mut self, events: &[RunEvent]) {
        let summary = self.summaries.entry(events[0].run.clone()).or_default();
        summary.apply_all(events);
        self.recorder.on_events(events, summary);
    }

    fn record_lines(&mut self, task: &Arc<Task>, lines: &[&str], ending: Option<Ending>) {
        let started = Started {
            runner: Runner::Pi,
            child: 1,
            keeper: 2,
        };
        let mut happenings = vec![
            Happening::Accepted(Arc::clone(task)),
            Happening::Started(started),
        ];
        happenings.extend(lines.iter().map(|line| child_event(line)));
        happenings.extend(ending.map(Happening::Ended));
        self.record(task, happenings);
    }

    fn find(&self, prefix: &str) -> Result<RunOrSession<IndexedRun>, FindError> {
        Finder::GIVEN.find(&self.store.runs().unwrap(), prefix)
    }

    fn histories(&self, session: &str) -> Vec<RunHistory> {
        let RunOrSession::Session(_, runs) = self.find(session).unwrap() else {
            panic!("{session} is no session");
        };
        runs.iter()
            .map(|run| history(&run.directory, HeldMessages::Newest).unwrap())
            .collect()
    }
}

fn child_event(line: &str) -> Happening {
    let ChildLine::Record(record) = decode(line.as_bytes()) else {
        panic!("{line} is no record");
    };
    Happening::Said {
        line: Bytes::copy_from_slice(line.as_bytes()),
        record,
    }
}

fn directory(task: &Task) -> &Path {
    task.directory.as_deref().unwrap()
}

#[test]
fn a_run_is_read_back_as_it_was() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    desk.record_lines(
        &task,
        &[PROMPT, CALL, RESULT, ANSWER],
        Some(Ending::Completed),
    );
    let read = desk.histories("session-1").remove(0);
    assert_eq!(read.summary.status(), Status::Completed);
    assert_eq!(read.summary.usage.cost, Some(0.75));
    assert_eq!(read.summary.tool_calls, 1);
    assert_eq!(read.messages.len(), 4);
    assert_eq!(read.output().as_deref(), Some("Done."));
    assert_eq!(
        fs::read_to_string(directory(&task).join("transcript.log")).unwrap(),
        "FILES AND TRANSCRIPT the prompt\nLooking.\n→ read: {\"path\":\"$&.txt\"}\n[tool result]: TEXT\nDone.\n"
    );
}

#[test]
fn a_failed_call_is_marked_for_people_and_not_for_models() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    let failed = r#"{"type":"message_end","message":{"role":"toolResult","toolCallId":"c","toolName":"bash","isError":true,"content":[{"type":"text","text":"Command exited with code 3"}]}}"#;
    desk.record_lines(&task, &[failed], Some(Ending::Completed));
    assert_eq!(
        fs::read_to_string(directory(&task).join("transcript.log")).unwrap(),
        "[tool failed: exit 3]: Command exited with code 3\n"
    );
    let read = desk.histories("session-1");
    assert_eq!(
        transcript::for_reading(&read, Prompts::LeftOut),
        "[tool result]: Command exited with code 3"
    );
}

#[test]
fn every_event_is_read_back_with_its_own_time() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    let directory = RunDir::new(directory(&task));
    let accepted = RecordedRun::read(&directory).unwrap().accepted_at;
    let second: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
    let at = |millisecond: i64| {
        Timestamp::from_millisecond(second.as_millisecond() + millisecond).unwrap()
    };
    let started = Started {
        runner: Runner::Pi,
        child: 1,
        keeper: 2,
    };
    // A line that is long enough travels to the disk by another way.
    let long = ANSWER.replace("Done.", &"x".repeat(20_000));
    let happenings = [
        (0, Happening::Accepted(Arc::clone(&task))),
        (1, Happening::Started(started)),
        (1, child_event(PROMPT)),
        (7, child_event(CALL)),
        (7, child_event(RESULT)),
        (9, child_event(&long)),
        (9, Happening::Warned("careful".to_owned())),
        (12, child_event(ANSWER)),
        (13, Happening::Ended(Ending::Completed)),
    ];
    let events = happenings.map(|(millisecond, happening)| RunEvent {
        run: task.run.clone(),
        at: at(millisecond),
        happening,
    });
    // Events that come at once are gathered; their times are kept apart all the same.
    let (first, rest) = events.split_at(4);
    desk.record_events(first);
    desk.record_events(rest);
    desk.recorder.settle();
    let mut expected = vec![accepted];
    expected.extend(events.iter().skip(1).map(|event| event.at));
    let mut read = Vec::new();
    read_events(&directory, |event| read.push(event.at)).unwrap();
    assert_eq!(read, expected);
    let mut tail = RecordTail::new(&directory);
    let mut followed = Vec::new();
    loop {
        let events = tail.next(10).unwrap();
        if events.is_empty() {
            break;
        }
        followed.extend(events.iter().map(|event| event.at));
    }
    assert_eq!(followed, expected);
}

#[test]
fn that_a_run_is_stopping_is_in_its_record() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    let started = Started {
        runner: Runner::Pi,
        child: 1,
        keeper: 2,
    };
    let happenings = [
        Happening::Accepted(Arc::clone(&task)),
        Happening::Started(started),
        Happening::Stopping(DecisionKind::Stop),
    ];
    let events = happenings.map(|happening| RunEvent {
        run: task.run.clone(),
        at: Timestamp::now(),
        happening,
    });
    desk.record_events(&events);
    desk.recorder.settle();
    let mut is_stopping = false;
    let directory = RunDir::new(directory(&task));
    read_events(&directory, |event| {
        is_stopping |= matches!(event.happening, Happening::Stopping(DecisionKind::Stop));
    })
    .unwrap();
    assert!(is_stopping);
}

#[test]
fn transcripts_have_the_words_of_the_seed() {
    let mut desk = Desk::new();
    let long = RESULT.replace("TEXT", &"é".repeat(600));
    let first = desk.begin("run-1", "session-1");
    desk.record_lines(
        &first,
        &[PROMPT, CALL, &long, ANSWER],
        Some(Ending::Completed),
    );
    let second = desk.begin("run-2", "session-1");
    desk.record_lines(&second, &[PROMPT], Some(Ending::Stopped));
    let runs = desk.histories("session-1");
    let cut = format!("{}...", "é".repeat(500));
    assert_eq!(
        transcript::for_reading(&runs, Prompts::Marked),
        format!(
            "=== Run 1/2 (completed) ===\n[prompt]: the prompt\nLooking.\n→ read: {{\"path\":\"$&.txt\"}}\n[tool result]: {cut}\nDone.\n---\n=== Run 2/2 (error) ===\n[prompt]: the prompt\n[Error: Stopped on request.]"
        )
    );
    let unmarked = transcript::for_reading(&runs, Prompts::LeftOut);
    assert!(!unmarked.contains("the prompt"), "{unmarked}");
    assert!(unmarked.starts_with("=== Run 1/2 (completed) ===\nLooking.\n"));
    assert_eq!(
        transcript::resumed_prompt(&transcript::for_resuming(&runs), "Go on."),
        format!(
            "Previously:\n\n--- Run 1 (completed, 4 messages) ---\nUser: the prompt\nAssistant: Looking.\nTool Call: read({{\"path\":\"$&.txt\"}})\nTool Result: {cut}\nAssistant: Done.\n\n--- Run 2 (error, 1 messages) ---\nUser: the prompt\n[Error: Stopped on request.]\n\nInstructions:\n\nGo on."
        )
    );
}

#[test]
fn an_abandoned_run_is_closed_once_and_keeps_what_it_said() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    desk.record_lines(&task, &[PROMPT, CALL], None);
    let events = directory(&task).join("events.jsonl");
    let mut torn = fs::read_to_string(&events).unwrap();
    torn.push_str("{\"type\":\"message_end\",\"mess");
    fs::write(&events, torn).unwrap();
    let last_heard = SystemTime::now() + Duration::from_hours(1);
    let file = fs::File::options().append(true).open(&events).unwrap();
    file.set_modified(last_heard).unwrap();

    let open = desk.store.runs().unwrap().remove(0);
    assert_eq!(open.state, RunState::Open);
    assert!(desk.store.close_interrupted(&open).unwrap());
    assert!(!desk.store.close_interrupted(&open).unwrap());

    let read = desk.histories("session-1").remove(0);
    // Whenever somebody looks, it was over when it was last heard of.
    let milliseconds = |at: Timestamp| at.as_millisecond();
    let ended_at = read.summary.ended_at.map(milliseconds);
    let last_heard = Timestamp::try_from(last_heard).ok().map(milliseconds);
    assert_eq!(ended_at, last_heard);
    assert_eq!(
        read.summary.ending.unwrap().message().unwrap(),
        "Session was interrupted (main agent session ended unexpectedly)"
    );
    assert_eq!(read.messages.len(), 2);
    let RunState::Over { status, .. } = desk.store.runs().unwrap()[0].state else {
        panic!("still open");
    };
    assert_eq!(status, Status::Stopped);
}

#[test]
fn an_owner_that_goes_on_writes_nothing_more_about_a_run_that_was_ended_for_it() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    desk.record_lines(&task, &[PROMPT, CALL], None);
    let open = desk.store.runs().unwrap().remove(0);
    assert!(desk.store.close_stopped(&open).unwrap());
    desk.record(
        &task,
        vec![child_event(ANSWER), Happening::Ended(Ending::Completed)],
    );

    let read = desk.histories("session-1").remove(0);
    assert_eq!(read.summary.ending, Some(Ending::Stopped));
    assert_eq!(read.messages.len(), 2);
    let count = |file: &Path, part: &str| fs::read_to_string(file).unwrap().matches(part).count();
    let events = directory(&task).join("events.jsonl");
    assert_eq!(count(&events, r#""type":"run_ended""#), 1);
    // A caller that found the run open before closes it once more, and nothing changes.
    assert!(!desk.store.close_interrupted(&open).unwrap());
    assert_eq!(count(&desk.store.index(), r#""endedAt""#), 1);
}

#[test]
fn files_that_cannot_be_written_never_prevent_the_result() {
    let mut desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    for in_the_way in ["events.jsonl", "transcript.log", "stderr.log"] {
        fs::create_dir(directory(&task).join(in_the_way)).unwrap();
    }
    let open = desk.store.runs().unwrap().remove(0);
    desk.record_lines(&task, &[PROMPT, ANSWER], Some(Ending::Completed));
    let read = || RecordedRun::read(&open.directory).unwrap().end.unwrap();
    assert_eq!(
        (read().status, read().output.as_deref()),
        (Status::Completed, Some("Done."))
    );
    fs::remove_dir(open.directory.events()).unwrap();
    let history = history(&open.directory, HeldMessages::Newest).unwrap();
    assert_eq!(history.output().as_deref(), Some("Done."));
    assert_eq!(history.gap.unwrap().reasons.len(), 1);
    assert!(desk.recorder.take_problems(&task.run).is_incomplete);
    assert!(!desk.store.close_interrupted(&open).unwrap());
    assert_eq!(read().status, Status::Completed);
    let RunState::Over { status, .. } = desk.store.runs().unwrap()[0].state else {
        panic!("still open");
    };
    assert_eq!(status, Status::Completed);
}

#[test]
fn a_full_record_keeps_the_answer_and_says_what_it_lacks() {
    let mut desk = Desk::new();
    desk.record_limit = 20_000;
    let task = desk.begin("run-1", "session-1");
    let long = RESULT.replace("TEXT", &"x".repeat(3000));
    let mut lines = vec![PROMPT];
    lines.extend([long.as_str(); 20]);
    lines.push(ANSWER);
    desk.record_lines(&task, &lines, Some(Ending::Completed));
    let taken: u64 = fs::read_dir(directory(&task))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(taken < 22_000, "{taken}");
    let read = desk.histories("session-1").remove(0);
    assert_eq!(read.summary.status(), Status::Completed);
    assert_eq!(read.output().as_deref(), Some("Done."));
    let lacks = "its record has reached the limit of 0 MB (maxRunDisk in settings.json); what its sub-agent said after that is not recorded, except its answer";
    assert_eq!(read.gap.unwrap().reasons, [lacks]);
    assert_eq!(read.summary.warnings, [lacks]);
    let problems = desk.recorder.take_problems(&task.run);
    assert_eq!(problems.sentences, [lacks]);
    assert!(!problems.is_incomplete);
}

#[test]
fn a_background_run_without_its_owner_has_failed() {
    let mut desk = Desk::new();
    desk.detached = Some(Detached {
        pi_session: Some("pi".to_owned()),
    });
    let task = desk.begin("run-1", "session-1");
    desk.record_lines(&task, &[PROMPT, ANSWER], None);
    let open = desk.store.runs().unwrap().remove(0);
    assert!(desk.store.close_interrupted(&open).unwrap());
    let end = RecordedRun::read(&open.directory).unwrap().end.unwrap();
    assert_eq!(
        (end.status, end.error_message.as_deref()),
        (
            Status::Failed,
            Some("Lost the sub-agent: owner process exited.")
        )
    );
}

#[test]
fn a_notice_is_claimed_once_for_each_session() {
    let desk = Desk::new();
    let task = desk.begin("run-1", "session-1");
    let directory = RunDir::new(directory(&task));
    let sessions = ["s1", "s1", "../fork", "s1", "../fork"];
    let claims = sessions.map(|session| directory.claim_notice(session, NoticeOf::End).unwrap());
    assert_eq!(claims, [true, false, true, false, false]);
    let questions = [1, 1, 2].map(QuestionId::new);
    let claims = questions.map(|id| {
        let asks = NoticeOf::Question(&id);
        directory.claim_notice("s1", asks).unwrap()
    });
    assert_eq!(claims, [true, false, true]);
    directory.release_notice("s1", NoticeOf::End).unwrap();
    assert!(directory.claim_notice("s1", NoticeOf::End).unwrap());
    let gone = RunDir::new(desk.home.path().join("gone"));
    assert!(gone.claim_notice("s1", NoticeOf::End).is_err());
}

#[test]
fn ids_are_found_by_their_unique_beginning() {
    let desk = Desk::new();
    for (run, session) in [("run-1", "aaaa"), ("run-2", "aaabb"), ("run-22", "aaabb")] {
        desk.begin(run, session);
    }
    let found = |prefix: &str| match desk.find(prefix) {
        Ok(RunOrSession::Run(run)) => format!("run {}", run.run),
        Ok(RunOrSession::Session(id, runs)) => format!("session {id} with {}", runs.len()),
        Err(error) => error.to_string(),
    };
    assert_eq!(found("aaab"), "session aaabb with 2");
    assert_eq!(found("run-1"), "run run-1");
    assert_eq!(found("run-2"), "run run-2");
    assert_eq!(found("run-22"), "run run-22");
    assert_eq!(
        found("run-"),
        "\"run-\" is the beginning of several ids: run-22, run-2, run-1"
    );
    let many = FindError::Ambiguous {
        prefix: "a".to_owned(),
        candidates: (1..=7)
            .map(|number| Candidate {
                id: format!("a{number}"),
                name: String::new(),
                accepted_at: Timestamp::UNIX_EPOCH,
            })
            .collect(),
    };
    assert_eq!(
        many.to_string(),
        "\"a\" is the beginning of several ids: a1, a2, a3, a4, a5 and 2 more"
    );
    assert_eq!(found(""), "there is no run or session \"\"");
    assert!(matches!(desk.find("x"), Err(FindError::NotFound { .. })));
}

/// Rounds the ends of runs: a result has milliseconds, and the index is more exact.
fn by_milliseconds(mut runs: Vec<IndexedRun>) -> Vec<IndexedRun> {
    for run in &mut runs {
        if let RunState::Over { at, .. } = &mut run.state {
            *at = Timestamp::from_millisecond(at.as_millisecond()).unwrap();
        }
    }
    runs
}

#[test]
fn the_index_is_rebuilt_from_the_directories() {
    let mut desk = Desk::new();
    let done = desk.begin("run-1", "session-1");
    desk.record_lines(&done, &[PROMPT, ANSWER], Some(Ending::Completed));
    desk.begin("run-2", "session-2");
    let before = desk.store.runs().unwrap();
    fs::remove_file(desk.store.index()).unwrap();
    assert_eq!(desk.store.runs().unwrap(), []);
    assert_eq!(
        desk.store
            .reindex(Some(desk.home.path()), &Survey::default()),
        2
    );
    assert_eq!(
        by_milliseconds(desk.store.runs().unwrap()),
        by_milliseconds(before)
    );
    let known = desk.survey();
    assert_eq!(desk.store.reindex(Some(desk.home.path()), &known), 0);
}

#[test]
fn the_order_of_runs_is_not_that_of_the_clock() {
    let desk = Desk::new();
    // The clock was a year ahead, then right, then a day behind.
    let runs = [
        "20271116-120000-000-aaaaaa",
        "20261116-120001-000-bbbbbb",
        "20261115-120002-000-cccccc",
    ];
    for run in runs {
        desk.begin(run, "session-1");
    }
    let order = || {
        let Ok(RunOrSession::Session(_, runs)) = desk.find("session-1") else {
            panic!("no session");
        };
        let ids = runs.iter().map(|run| run.run.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(order(), runs);
    // The directories know the order too.
    fs::remove_file(desk.store.index()).unwrap();
    assert_eq!(
        desk.store
            .reindex(Some(desk.home.path()), &Survey::default()),
        3
    );
    assert_eq!(order(), runs);
}

#[test]
fn a_run_that_is_found_late_stands_where_it_belongs() {
    let desk = Desk::new();
    let begun = Timestamp::now().as_millisecond();
    desk.begin("run-2", "session-1");
    fs::remove_file(desk.store.index()).unwrap();
    // Without the index, the clock alone tells them apart.
    while Timestamp::now().as_millisecond() <= begun + 1 {
        std::thread::yield_now();
    }
    desk.begin("run-1", "session-1");
    let known = desk.survey();
    assert_eq!(desk.store.reindex(Some(desk.home.path()), &known), 1);
    let runs = desk.store.runs().unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    assert_eq!(ids, ["run-2", "run-1"]);
}

#[test]
fn a_reader_of_a_growing_record_misses_nothing_and_sees_nothing_twice() {
    let desk = Desk::new();
    let task = desk.begin("20261115-000000-000-aaaaaa", "1111111111111111");
    let directory = RunDir::new(task.directory.clone().unwrap());
    let mut tail = RecordTail::new(&directory);
    let mut read = |bytes| {
        let mut kinds = Vec::new();
        loop {
            let events = tail.next(bytes).unwrap();
            if events.is_empty() {
                return kinds;
            }
            kinds.extend(events.iter().map(|event| kind(&event.happening)));
        }
    };
    assert_eq!(read(10), ["accepted"]);
    let events = directory.events();
    let mut written = String::new();
    let mut write = |text: &str| {
        written.push_str(text);
        fs::write(&events, &written).unwrap();
    };
    write(&format!("{PROMPT}\n{CALL}\n{}", &RESULT[..40]));
    assert_eq!(read(10), ["said", "said"]);
    assert_eq!(read(10), [""; 0]);
    write(&format!("{}\n\n{{torn\n", &RESULT[40..]));
    fs::write(directory.stdout(), "plain\n").unwrap();
    fs::write(directory.stderr(), "angry\n").unwrap();
    assert_eq!(read(1 << 20), ["said", "printed", "complained"]);
    write(&format!("{ANSWER}\n"));
    assert_eq!(read(1 << 20), ["said"]);
}

fn kind(happening: &Happening) -> &'static str {
    match happening {
        Happening::Accepted(_) => "accepted",
        Happening::Said { .. } => "said",
        Happening::Printed(_) => "printed",
        Happening::Complained(_) => "complained",
        _ => "other",
    }
}
