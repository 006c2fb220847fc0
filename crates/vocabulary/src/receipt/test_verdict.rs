//! Decides what the exit code of a command line proves about the test in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command_line::{CommandLine, Joint, Simple};
use super::reading_programs::reads;
use super::shell_changes::changes_shell;
use super::test_programs::runs_tests;
use super::{CommandEnd, CutShort};

/// The state of a run's last test, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TestState {
    /// It passed, and since it began no call has changed a file and no shell command may have.
    Passed,
    /// It did not pass.
    Failed,
    /// It passed, and after it had begun there were shell commands that may have changed files.
    PassedBeforeCommands,
    /// It passed, and files were changed after it had begun.
    Stale,
    /// The exit code of its command line does not show how the test ended.
    Unclear,
    /// No test was seen. A test may have been run all the same.
    #[default]
    NotSeen,
}

/// The place of a test in its command line. It decides what a success and a failure of the line
/// mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TestPlace {
    /// True if the line succeeds only if the test does.
    proves_success: bool,
    /// True if the line fails only if the test does.
    proves_failure: bool,
    /// The number of commands behind the test, in the same line, that may have changed files.
    pub(super) commands_since: usize,
}

impl TestPlace {
    /// Finds the last test of a command line.
    pub(super) fn find(command: &str, test_commands: &[String]) -> Option<Self> {
        let line = CommandLine::read(command);
        let is_test = |command: &Simple| {
            runs_tests(&command.words, test_commands)
                || line.is_tangled && runs_tests(behind_keyword(command), test_commands)
        };
        let at = line.commands.iter().rposition(is_test)?;
        if line.is_tangled || changes_shell(&line) {
            return Some(Self::hidden());
        }
        Some(Self::of(&line, at))
    }

    fn hidden() -> Self {
        Self {
            proves_success: false,
            proves_failure: false,
            commands_since: 0,
        }
    }

    fn of(line: &CommandLine, at: usize) -> Self {
        let commands = line.commands.as_slice();
        let (before, after) = (&commands[..at], &commands[at + 1..]);
        let is_and = |command: &Simple| command.joint == Some(Joint::And);
        let pipes_fail = before.iter().any(|command| {
            command.words.first().is_some_and(|word| word == "set")
                && command.words.iter().any(|word| word == "pipefail")
        });
        let last = commands.last().and_then(|command| command.joint);
        // The test and the commands after it, without the last one: their operators lead to the end
        // of the line.
        let follows = &commands[at..commands.len() - 1];
        let is_sound = |command: &Simple| {
            is_and(command) || (pipes_fail && command.joint == Some(Joint::Pipe))
        };
        let is_reached = before.iter().all(|command| match command.joint {
            Some(Joint::And) => is_harmless(command),
            Some(Joint::Then | Joint::Background) => true,
            Some(Joint::Or | Joint::Pipe) | None => false,
        });
        let alternatives = after.is_empty()
            || follows
                .iter()
                .all(|command| command.joint == Some(Joint::Or));
        let may_change = |command: &&Simple| line.does_more || !reads(command);
        Self {
            proves_success: last.is_none() && follows.iter().all(is_sound) && !is_optional(before),
            proves_failure: last.is_none() && alternatives && is_reached,
            commands_since: after.iter().filter(may_change).count(),
        }
    }

    /// Returns the state of the test in a command line that ended like this.
    pub(super) fn judge(self, end: CommandEnd) -> TestState {
        match end {
            CommandEnd { exit: Some(0), .. } if self.proves_success => TestState::Passed,
            CommandEnd { exit: Some(0), .. } => TestState::Unclear,
            // A line that is only a test and hangs has not passed either.
            CommandEnd { exit: Some(_), .. }
            | CommandEnd {
                cut: Some(CutShort::TimedOut),
                ..
            } if self.proves_failure => TestState::Failed,
            CommandEnd { .. } => TestState::Unclear,
        }
    }
}

/// Returns the words behind a keyword: `do cargo test`.
fn behind_keyword(command: &Simple) -> &[String] {
    command.words.get(1..).unwrap_or_default()
}

/// Returns whether the test is skipped when a command before it succeeds: `ls x || cargo test`.
fn is_optional(before: &[Simple]) -> bool {
    before
        .last()
        .is_some_and(|command| command.joint == Some(Joint::Or))
}

/// Returns whether a command before the test hardly ever fails.
fn is_harmless(command: &Simple) -> bool {
    let harmless = ["cd", "echo", "export", "mkdir", "pushd", "set", "true"];
    let first = command.words.first();
    first.is_some_and(|word| harmless.contains(&word.as_str()))
        // Behind an assignment there may be a command, as in `CC=clang make`.
        || command.words.iter().all(|word| word.contains('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(command: &str) -> Option<(TestState, TestState)> {
        let place = TestPlace::find(command, &[])?;
        let exited = |code| place.judge(CommandEnd::exited(code));
        Some((exited(0), exited(101)))
    }

    #[test]
    fn an_exit_code_says_only_what_it_proves() {
        use TestState::{Failed, Passed, Unclear};
        for (command, on_success, on_failure) in [
            ("cargo test", Passed, Failed),
            ("cd a && cargo test", Passed, Failed),
            ("cargo fmt; cargo test", Passed, Failed),
            ("cargo test 2>&1 > log", Passed, Failed),
            // The build may have failed, or the push.
            ("cargo build && cargo test", Passed, Unclear),
            ("CC=clang make && cargo test", Passed, Unclear),
            ("CC=clang && cargo test", Passed, Failed),
            ("cargo test && git push", Passed, Unclear),
            ("cargo test | tail -5", Unclear, Unclear),
            ("set -o pipefail; cargo test | tail -5", Passed, Unclear),
            ("cargo test || true", Unclear, Failed),
            ("cargo test; echo done", Unclear, Unclear),
            ("cargo test &", Unclear, Unclear),
            ("ls x || cargo test", Unclear, Unclear),
            ("(cd a; cargo test)", Unclear, Unclear),
            ("for a in b; do cargo test; done", Unclear, Unclear),
            ("trap \"exit 0\" EXIT; make test", Unclear, Unclear),
            ("alias cargo=true\ncargo test", Unclear, Unclear),
            ("cargo() { true; }; cargo test", Unclear, Unclear),
            ("PATH=$PWD/fakebin:$PATH cargo test", Unclear, Unclear),
            ("export PATH=fakebin; pytest", Unclear, Unclear),
            ("source x; cargo test", Unclear, Unclear),
            ("exec cargo test", Unclear, Unclear),
            ("set -n; cargo test", Unclear, Unclear),
        ] {
            assert_eq!(states(command), Some((on_success, on_failure)), "{command}");
        }
        assert_eq!(states("cargo build"), None);
        assert_eq!(states("cat > a <<E\ncargo test\nE"), None);
    }
}
