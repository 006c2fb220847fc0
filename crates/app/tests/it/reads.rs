//! The files of a user that one command reads, and the number of times.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::fleet::git_project;
use crate::stage::Stage;

/// Counts how often a file is opened.
struct Opens(OwnedFd);

impl Opens {
    fn of(file: &Path) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        // The kernel keeps one of two equal events in a row, and there is a close between two opens.
        let flags = WatchFlags::OPEN | WatchFlags::CLOSE;
        inotify::add_watch(&watch, file, flags).unwrap();
        Self(watch)
    }

    /// Returns how often the file was opened since this was asked last.
    fn count(&self) -> usize {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.0, &mut buffer);
        let mut count = 0;
        loop {
            match events.next() {
                Ok(event) => count += usize::from(event.events().contains(ReadFlags::OPEN)),
                Err(Errno::WOULDBLOCK) => return count,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Runs a command whose child prints something, and returns its output for people.
fn run(stage: &Stage, arguments: &[&str]) -> String {
    let task = json!({"say": "hi"}).to_string();
    let mut arguments: Vec<&str> = arguments.to_vec();
    let last = arguments.pop().unwrap();
    let last = format!("{last}{task}");
    arguments.extend([last.as_str(), "--runner", "pi"]);
    stage.command(&arguments).run().expect_success().stderr
}

/// Returns the id of the only session in a summary.
fn session_of(answer: &str) -> &str {
    let (_, rest) = answer.split_once("(session: ").unwrap();
    rest.split_once(')').unwrap().0
}

#[test]
fn a_command_reads_its_configuration_once() {
    let stage = Stage::new();
    stage.profile("scout", "", "You scout.");
    let definition = "home/.pi/agent/agent-profiles/scout.md";
    let opens = Opens::of(&stage.sandbox.root().join(definition));
    let first = run(&stage, &["delegate", "--task", "a="]);
    assert_eq!(opens.count(), 1, "delegate");
    let second = run(&stage, &["delegate", "--agent", "scout", "--task", "a="]);
    assert_eq!(opens.count(), 1, "delegate --agent");
    let _ = run(&stage, &["run", "scout", ""]);
    assert_eq!(opens.count(), 1, "run");
    for session in [session_of(&first), session_of(&second)] {
        let _ = run(&stage, &["resume", session, ""]);
        assert_eq!(opens.count(), 1, "resume");
    }
}

/// Returns the directory of the first run in the index.
fn first_directory(stage: &Stage) -> PathBuf {
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let index = fs::read_to_string(index).unwrap();
    let begin: Value = serde_json::from_str(index.lines().next().unwrap()).unwrap();
    PathBuf::from(begin["directory"].as_str().unwrap())
}

#[test]
fn a_resumed_record_is_read_once() {
    for first in [
        &["delegate", "--isolation", "worktree", "--task", "a="][..],
        &["run", "--isolation", "worktree", "scout", ""],
    ] {
        let stage = git_project();
        stage.profile("scout", "", "You scout.");
        let _ = run(&stage, first);
        let directory = first_directory(&stage);
        let files = ["meta.json", "events.jsonl", "result.json", "workspace.json"];
        let opens = files.map(|name| (name, Opens::of(&directory.join(name))));
        let _ = run(&stage, &["resume", "last", ""]);
        for (name, opens) in opens {
            assert_eq!(opens.count(), 1, "{first:?}: {name}");
        }
    }
}

/// Returns the number of times that a command opens the index, for reading or for writing.
fn index_opens(stage: &Stage, opens: &Opens, arguments: &[&str]) -> usize {
    opens.count();
    let _ = stage.command(arguments).run();
    opens.count()
}

#[test]
fn a_command_that_looks_at_runs_reads_the_index_once() {
    let stage = Stage::new();
    for name in ["a", "b", "c"] {
        let _ = run(&stage, &["delegate", "--task", &format!("{name}=")]);
    }
    let opens = Opens::of(&stage.sandbox.agent_dir().join("subagents-index.jsonl"));
    for arguments in [
        &["status"][..],
        &["status", "last"],
        &["stop", "a"],
        &["stop", "a", "b", "c"],
        &["stop", "--all"],
        &["wait", "a", "b"],
        &["output", "last"],
        &["session", "a"],
        &["logs", "a"],
        &["merge", "a", "b", "c"],
        &["diff", "a"],
        &["worktrees"],
    ] {
        let count = index_opens(&stage, &opens, arguments);
        assert_eq!(count, 1, "{arguments:?}");
    }
}
