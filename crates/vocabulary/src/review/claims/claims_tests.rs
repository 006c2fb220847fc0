//! Sentences as sub-agents write them, and what is said of them.

use super::*;
use crate::receipt::{
    CommandEnd, CommandKind, FileSource, SeenCommand, SeenFiles, SeenTest, SeenTests, TestState,
};
use pretty_assertions::assert_eq;

/// A record with these changed files and commands; a command is followed by its exit code.
#[derive(Default)]
struct Record {
    receipt: Receipt,
    passed: Vec<u64>,
    commits: Vec<String>,
    is_cut: bool,
}

impl Record {
    fn new() -> Self {
        let mut record = Self::default();
        record.receipt.files.source = FileSource::Worktree;
        record
    }

    fn changed(mut self, files: &[&str]) -> Self {
        self.receipt.files = SeenFiles {
            changed: files.iter().map(|&file| file.to_owned()).collect(),
            source: FileSource::Worktree,
            ..SeenFiles::default()
        };
        self
    }

    fn ran(mut self, command: &str, code: i32) -> Self {
        self.receipt.command_count += 1;
        self.receipt.commands.push(SeenCommand {
            command: command.to_owned(),
            end: CommandEnd::exited(code),
            seconds: None,
            kind: None,
        });
        self
    }

    fn tested(mut self, command: &str, code: i32, state: TestState) -> Self {
        self = self.ran(command, code);
        self.receipt.commands.last_mut().unwrap().kind = Some(CommandKind::Test);
        self.receipt.tests = SeenTests {
            state,
            last: Some(SeenTest {
                command: command.to_owned(),
                end: CommandEnd::exited(code),
                after_last_change: Some(state != TestState::Stale),
                commands_since: 0,
            }),
            passed: Vec::new(),
        };
        self
    }

    fn counted(mut self, passed: u64) -> Self {
        self.passed.push(passed);
        self
    }

    fn committed(mut self, commit: &str) -> Self {
        self.commits.push(commit.to_owned());
        self
    }

    fn says(&self, answer: &str) -> Vec<String> {
        unseen_claims(&AnswerRecord {
            answer,
            receipt: &self.receipt,
            passed: &self.passed,
            commits: Some(&self.commits),
            is_cut: self.is_cut,
        })
    }
}

#[test]
fn claims_that_were_not_seen_are_said() {
    let new = Record::new;
    for (answer, record, expected) in [
        ("All tests pass.", new(), "not seen: a test run"),
        ("All 42 tests pass.", new(), "not seen: 42 tests"),
        (
            "Added test_a.py with the cases.",
            new().changed(&["src/a.py"]),
            "not seen: a change of test_a.py",
        ),
        (
            "The suite is green.",
            new().tested("cargo test", 0, TestState::Stale),
            "the tests are older than the last change",
        ),
        (
            "57 tests pass.",
            new().tested("cargo test", 0, TestState::Passed).counted(55),
            "not seen: 57 tests (seen: 55)",
        ),
        (
            "`cargo clippy -- -D warnings` passes.",
            new().ran("cargo fmt", 0),
            "not seen: cargo clippy -- -D warnings",
        ),
        (
            "I ran `make check` and it is clean.",
            new().ran("make check", 2),
            "seen: make check ended with 2",
        ),
        (
            "Committed as 3f2a91c.",
            new().committed("77aa012fff"),
            "not seen: commit 3f2a91c",
        ),
        (
            "The tests pass now.",
            new().tested("cargo test", 1, TestState::Failed),
            "seen: the last test ended with 1",
        ),
        (
            "All tests pass.",
            new().tested("cargo test | tail", 0, TestState::Unclear),
            "not seen: how the last test ended",
        ),
        (
            "The full suite passes.",
            new().tested("cargo test -p api", 0, TestState::Passed),
            "seen: cargo test -p api, which names a part",
        ),
        (
            "I opened a pull request for this.",
            new().ran("git commit -m x", 0),
            "not seen: a pull request",
        ),
        (
            "Pushed the branch to origin.",
            new().ran("git commit -m x", 0),
            "not seen: a push",
        ),
        (
            "| File | What |\n|---|---|\n| `index.html` | updated title |",
            new().changed(&["style.css"]),
            "not seen: a change of index.html",
        ),
        (
            "- `src/a.rs`: added a cache",
            new().changed(&["src/b.rs"]),
            "not seen: a change of src/a.rs",
        ),
    ] {
        assert_eq!(record.says(answer), [expected], "{answer}");
    }
}

#[test]
fn everything_else_is_passed_over_in_silence() {
    let new = Record::new;
    let passing = || new().tested("cargo test", 0, TestState::Passed);
    for (answer, record) in [
        ("All 42 tests pass.", passing().counted(42)),
        ("All 42 tests pass.", passing()),
        ("You can run `cargo test` now.", new()),
        ("The tests should pass.", new()),
        ("Committed as 77aa012.", new().committed("77aa012fff")),
        ("It says:\n```\n42 passed\n```", new()),
        ("`limit.rs` with its rule was added in 2021.", new()),
        ("`x.sql` was created by the team.", new()),
        ("Two tests were failing before they passed.", new()),
        (
            "Updated `pool.rs`.",
            new().changed(&["crates/db/src/pool.rs"]),
        ),
        (
            "I ran `./ci/check.sh`; 12 tests passed.",
            new().ran("./ci/check.sh", 0),
        ),
        ("> All tests pass when you are done.", new()),
        ("The task asked that \"all tests pass\".", new()),
        ("I did not run the tests, so no test passed.", new()),
        ("Do all tests pass?", new()),
        ("The existing tests pass in CI.", new()),
        (
            "Added a case for `pool.rs` to test_pool.py",
            new().changed(&["test_pool.py"]),
        ),
        ("Pushed the value onto the stack.", new()),
        ("See [the tests](https://example.org/all-pass).", new()),
        ("Commit 1234567 is the parent.", new()),
        (
            "I ran `cargo test` and it passes.",
            passing().ran("cargo fmt", 0),
        ),
    ] {
        let none: [&str; 0] = [];
        assert_eq!(record.says(answer), none, "{answer}");
    }
}

#[test]
fn nothing_is_compared_with_a_record_that_was_cut() {
    let mut record = Record::new().changed(&["a.rs"]);
    let answer = "Added b.rs. All tests pass. `cargo clippy --all` is clean.";
    assert_eq!(record.says(answer).len(), 3);
    record.is_cut = true;
    assert_eq!(record.says(answer).len(), 0);
    let mut record = Record::new().changed(&["a.rs"]);
    record.receipt.files.unlisted = 1;
    record.receipt.command_count = 60;
    assert_eq!(record.says(answer).len(), 0);
}

proptest::proptest! {
    #[test]
    fn no_answer_makes_it_panic(answer in ".{0,200}|[`\"|.()\\[\\]a-z0-9 \n]{0,200}") {
        let record = Record::new();
        proptest::prop_assert!(record.says(&answer).len() <= MOST_CLAIMS);
    }
}
