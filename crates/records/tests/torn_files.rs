//! A power cut or a full disk leaves a file that ends anywhere. Each file of a record, and the
//! index, is cut at every byte: no run that has ended counts as running, and no answer is lost
//! without a word.
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
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use pi_subagents_records::{
    IndexedRun, NewRun, OwnerName, RecordedRun, Recorder, RunState, Store, SurveyDepth, history,
};
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Ending, EventSink as _, Happening, HeldMessages, RunEvent, RunId, RunSummary, Runner,
    SessionId, Started, Status, Task, Timestamp,
};
use pretty_assertions::assert_eq;

const PROMPT: &str = r#"{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"the prompt"}]}}"#;
const ANSWER: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Grüße."}],"model":"m","stopReason":"stop","usage":{"input":20,"output":5,"cost":{"total":0.25}}}}"#;

/// A store in a temporary home, with two runs that have completed.
struct Desk {
    home: tempfile::TempDir,
    store: Store,
}

impl Desk {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("agent"));
        let desk = Self { home, store };
        desk.complete("run-1");
        desk.complete("run-2");
        desk
    }

    fn project(&self) -> &Path {
        self.home.path()
    }

    fn complete(&self, run: &str) {
        let run = RunId::parse(run).unwrap();
        let directory = self.store.make_directory(Some(self.project()), &run);
        let task = Arc::new(Task {
            directory: Some(directory.unwrap().path().to_owned()),
            record_limit: 1 << 30,
            ..Task::new(
                run.clone(),
                SessionId::parse(&format!("session-{run}")).unwrap(),
                "reader",
                "the prompt",
                self.project().to_owned(),
            )
        });
        let owner = OwnerName {
            pid: 1,
            start_time: 1,
            host: "here".to_owned(),
            socket: None,
            fleet: None,
            caller: None,
            detached: None,
        };
        let begun = self.store.begin(&NewRun {
            task: &task,
            project: self.project(),
            owner: &owner,
            runner: Some("pi"),
            model: None,
            tools: None,
            terms: None,
            system_prompt: None,
            sticky_agent: None,
        });
        begun.unwrap();
        let events: Vec<RunEvent> = [
            Happening::Accepted(task),
            Happening::Started(Started {
                runner: Runner::Pi,
                child: 1,
                keeper: 2,
            }),
            child_event(PROMPT),
            child_event(ANSWER),
            Happening::Ended(Ending::Completed),
        ]
        .into_iter()
        .map(|happening| RunEvent {
            run: run.clone(),
            at: Timestamp::now(),
            happening,
        })
        .collect();
        let mut recorder = Recorder::start(self.store.index()).unwrap();
        recorder.on_events(&events, &RunSummary::of(&events));
        recorder.settle();
    }

    fn runs(&self) -> Vec<IndexedRun> {
        self.store.runs().unwrap()
    }

    fn first(&self) -> IndexedRun {
        self.runs().remove(0)
    }

    /// Does what the next command does about the runs that have no end.
    fn tend(&self) {
        for run in self.store.open_runs().unwrap() {
            self.store.close_interrupted(&run).unwrap();
        }
    }

    /// Returns the states of all runs, in words.
    fn states(&self) -> Vec<String> {
        let state = |run: &IndexedRun| match run.state {
            RunState::Open => format!("{} runs", run.run),
            RunState::Over { status, .. } => format!("{} {}", run.run, status.as_str()),
        };
        self.runs().iter().map(state).collect()
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

/// Calls the function with the file cut at each byte, and then puts the file back.
fn cut_everywhere(file: &Path, mut each: impl FnMut(usize, usize)) {
    let whole = fs::read(file).unwrap();
    for length in 0..=whole.len() {
        fs::write(file, &whole[..length]).unwrap();
        each(length, whole.len());
    }
    fs::write(file, whole).unwrap();
}

#[test]
fn an_index_that_is_cut_anywhere_shows_no_finished_run_as_running() {
    let desk = Desk::new();
    cut_everywhere(&desk.store.index(), |length, _| {
        let open: Vec<IndexedRun> = desk
            .runs()
            .into_iter()
            .filter(IndexedRun::is_open)
            .collect();
        assert_eq!(desk.store.open_runs().unwrap(), open, "cut at {length}");
        desk.tend();
        let states = desk.states();
        let is_completed = |state: &String| state.ends_with("completed");
        assert!(
            states.iter().all(is_completed),
            "cut at {length}: {states:?}"
        );
        // The records have whatever the index lost.
        let known = desk.store.survey(desk.project(), SurveyDepth::Counts);
        desk.store.reindex(Some(desk.project()), &known.unwrap());
        desk.tend();
        let all = ["run-1 completed", "run-2 completed"];
        assert_eq!(desk.states(), all, "cut at {length}");
    });
}

#[test]
fn a_removal_whose_line_is_torn_has_not_been_noted() {
    let desk = Desk::new();
    let removed = r#"{"run":"run-1","removedAt":"2026-01-01T00:00:00Z","session":"s","name":"n","directory":"/d"}"#;
    let index = fs::read_to_string(desk.store.index()).unwrap();
    fs::write(desk.store.index(), format!("{index}{removed}\n")).unwrap();
    assert_eq!(desk.store.removed_runs().unwrap().len(), 1);
    for length in 1..removed.len() {
        let torn = format!("{index}{}\n", &removed[..length]);
        fs::write(desk.store.index(), torn).unwrap();
        assert_eq!(desk.store.removed_runs().unwrap(), [], "cut at {length}");
        assert_eq!(desk.states().len(), 2, "cut at {length}");
    }
}

#[test]
fn an_end_that_is_missing_in_the_index_is_entered_while_the_owner_lives() {
    let desk = Desk::new();
    let index = fs::read_to_string(desk.store.index()).unwrap();
    fs::write(desk.store.index(), &index[..index.len() - 37]).unwrap();
    let open = desk.store.open_runs().unwrap().remove(0);
    // Its owner may be about to write the line.
    assert!(!desk.store.enter_end(&open).unwrap());
    let result = fs::File::options()
        .append(true)
        .open(open.directory.result());
    let before = SystemTime::now() - Duration::from_mins(1);
    result.unwrap().set_modified(before).unwrap();
    assert!(desk.store.enter_end(&open).unwrap());
    assert_eq!(desk.states(), ["run-1 completed", "run-2 completed"]);
}

#[test]
fn events_that_are_cut_anywhere_are_damaged_and_cost_no_answer() {
    let desk = Desk::new();
    let directory = desk.first().directory;
    cut_everywhere(&directory.events(), |length, whole| {
        let read = history(&directory, HeldMessages::Newest).unwrap();
        let cut = format!("cut at {length} of {whole}");
        assert_eq!(read.summary.status(), Status::Completed, "{cut}");
        assert_eq!(read.output().as_deref(), Some("Grüße."), "{cut}");
        // The last byte is a line break, which nobody misses.
        let reasons = read.gap.map(|gap| gap.reasons.concat()).unwrap_or_default();
        let is_damaged = reasons.starts_with("events.jsonl is damaged, it ");
        assert_eq!(is_damaged, length + 1 < whole, "{cut}: {reasons}");
    });
}

#[test]
fn a_result_that_is_cut_anywhere_is_named_and_its_run_has_ended() {
    let desk = Desk::new();
    let directory = desk.first().directory;
    let index = fs::read(desk.store.index()).unwrap();
    let lines = index.split_inclusive(|byte| *byte == b'\n');
    let begins: Vec<u8> = lines.step_by(2).flatten().copied().collect();
    cut_everywhere(&directory.result(), |length, whole| {
        let cut = format!("cut at {length} of {whole}");
        assert_eq!(
            RecordedRun::read(&directory).is_err(),
            length < whole,
            "{cut}"
        );
        let read = history(&directory, HeldMessages::Newest).unwrap();
        assert_eq!(read.gap.is_some(), length < whole, "{cut}");
        assert_eq!(read.output().as_deref(), Some("Grüße."), "{cut}");
        // The index has lost the ends as well.
        fs::write(desk.store.index(), &begins).unwrap();
        desk.tend();
        let all = ["run-1 completed", "run-2 completed"];
        assert_eq!(desk.states(), all, "{cut}");
    });
}
