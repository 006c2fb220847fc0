//! The receipt of a run: facts that we ourselves saw, and no claims of its model.
//!
//! A [`Witness`] folds the events of a run into a [`Receipt`]. Shell commands are taken apart in
//! `command_line.rs`; the tables of commands that run tests and that only read are in
//! `test_programs.rs` and `reading_programs.rs`.

mod bounded_counts;
mod changed_files;
mod command_line;
mod flag;
mod gate_files;
mod pending_calls;
mod reading_programs;
mod shell_changes;
mod test_counts;
mod test_programs;
mod test_verdict;
mod witness;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::FellBack;
pub(crate) use changed_files::shown_path;
pub use flag::Flag;
pub use test_verdict::TestState;
pub use witness::Witness;

/// The number of commands that a receipt lists: the last ones.
pub const MAX_COMMANDS: usize = 50;

/// The number of changed files that a receipt lists: the first ones.
pub const MAX_FILES: usize = 200;

/// The numbers of commands and files that a short receipt lists.
const SHORT_COMMANDS: usize = 5;
const SHORT_FILES: usize = 20;

/// The receipt of a run: the facts that we saw ourselves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// The number of the model's answers.
    pub turns: usize,
    /// The number of requests that got no answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_requests: usize,
    /// The number of calls of each tool.
    pub tools: BTreeMap<String, usize>,
    /// The number of calls that failed.
    pub tool_errors: usize,
    /// The models that answered, in the order of their first answers.
    pub models: Vec<SeenModel>,
    /// The changes of the model, because the one before could not be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<FellBack>,
    /// The files that were changed.
    pub files: SeenFiles,
    /// The last shell commands, in the order of their ends.
    pub commands: Vec<SeenCommand>,
    /// The number of all shell commands.
    pub command_count: usize,
    /// The outcome of the tests.
    pub tests: SeenTests,
    /// The last gate that was run, if the run has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<SeenGate>,
    /// The reports and the schema that they must meet, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<SeenSchema>,
    /// The number of questions that its model asked.
    #[serde(skip_serializing_if = "is_zero")]
    pub questions: usize,
    /// The number of these that nobody answered, so that it had to assume something.
    #[serde(skip_serializing_if = "is_zero")]
    pub assumed: usize,
    /// The findings that somebody should look at.
    pub flags: Vec<Flag>,
}

/// A model that answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SeenModel {
    /// Its provider, as the child names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Its id there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The number of its answers.
    pub answers: usize,
    /// The number of tokens of every kind in these answers.
    pub tokens: u64,
    /// Dollars, or `None` when a price is unknown.
    pub cost: Option<f64>,
}

/// The files that successful calls of `edit` and `write` changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SeenFiles {
    /// Paths, relative to the run's directory if they are below it.
    pub changed: Vec<String>,
    /// The calls that changed files which are not listed, because the list is full.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted: usize,
    /// The number of all calls that changed a file.
    pub edits: usize,
    /// The source from which the changes are known.
    pub source: FileSource,
    /// The number of shell commands that may have changed files which are not listed: all but tests
    /// and those that are known to only read. It is 0 if the files are known from git.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncertain_commands: usize,
}

/// The source from which changed files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FileSource {
    /// Calls of tools. Changes by shell commands are not known.
    #[default]
    Calls,
    /// From git, exactly: the run had a worktree of its own.
    Worktree,
}

/// A shell command that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenCommand {
    /// The command line, up to a limit.
    pub command: String,
    /// The end of the command.
    #[serde(flatten)]
    pub end: CommandEnd,
    /// The seconds that it took, if its start was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The kind of command, if we know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CommandKind>,
}

/// The end of a shell command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommandEnd {
    /// Its exit code, if there is one.
    pub exit: Option<i32>,
    /// The cause of its end, if it has no exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutShort>,
}

/// The cause of the end of a command that has no exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CutShort {
    /// Its own time limit.
    TimedOut,
    /// The end of the run, or of the turn.
    Aborted,
    /// A cause that the child did not name.
    Unknown,
    /// Nobody knows: the agent that did the work does not tell how commands end.
    NotTold,
}

/// A kind of command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CommandKind {
    /// It runs tests.
    Test,
}

/// The outcome of a run's tests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SeenTests {
    /// The state in one word.
    pub state: TestState,
    /// The last test, if one was seen.
    #[serde(flatten)]
    pub last: Option<SeenTest>,
    /// The numbers of tests that passed, as the outputs of tests count them. The last one is the sum
    /// of the last output that counts any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<u64>,
}

/// A gate and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenGate {
    /// Its command, up to a limit.
    pub command: String,
    /// The state in one word.
    pub state: GateState,
    /// The number of times that it was run.
    pub attempts: u32,
    /// The name of its last log, in the run directory.
    #[serde(default)]
    pub log: String,
}

/// The reports of a run that must meet a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenSchema {
    /// In one word.
    pub state: SchemaState,
    /// The number of reports that were checked.
    pub attempts: u32,
}

/// The state of the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SchemaState {
    /// The last one did.
    Met,
    /// None did.
    NotMet,
}

/// The state of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GateState {
    /// It is being run.
    Running,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
}

/// A test that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeenTest {
    /// Its command line, up to a limit.
    pub command: String,
    /// The end of the command.
    #[serde(flatten)]
    pub end: CommandEnd,
    /// True if nothing changed a file since the test began, false if a call did, and `None` if that
    /// is not known: a shell command may have, or git found changes that no call made.
    pub after_last_change: Option<bool>,
    /// The number of shell commands since the test began that may have changed files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commands_since: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field over by reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Receipt {
    /// Returns the number of all calls of tools.
    pub fn calls(&self) -> usize {
        self.tools.values().sum()
    }

    /// Says who answered if the model was changed, or who went on if the last model has not answered.
    pub fn answerer(&self) -> Option<String> {
        let last = self.fallbacks.last()?;
        let has_answered = self.models.iter().any(|seen| {
            let name = (seen.provider.as_deref(), seen.model.as_deref());
            seen.answers > 0 && last.to.split_once('/') == name.0.zip(name.1)
        });
        let verb = if has_answered {
            "answered by"
        } else {
            "went on with"
        };
        let before = self.fallbacks.iter().map(FellBack::cause);
        let before: Vec<String> = before.collect();
        Some(format!("{verb} {} after {}", last.to, before.join(" and ")))
    }

    /// Returns the receipt with short lists, for a place that holds many runs.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let skipped = self.commands.len().saturating_sub(SHORT_COMMANDS);
        self.commands.drain(..skipped);
        let files = &mut self.files;
        files.unlisted += files.changed.len().saturating_sub(SHORT_FILES);
        files.changed.truncate(SHORT_FILES);
        self
    }

    /// Replaces the files that calls named with those that git found in the worktree of the run.
    /// Changes that no call made may be older or younger than the last test.
    pub fn take_worktree(&mut self, files: impl IntoIterator<Item = String>) {
        self.take_files(SeenFiles::of_worktree(files));
    }

    fn take_files(&mut self, found: SeenFiles) {
        let is_explained = self.files.explain(&found);
        if let Some(test) = &mut self.tests.last
            && !is_explained
            && test.after_last_change == Some(true)
        {
            test.after_last_change = None;
        }
        self.files = SeenFiles {
            edits: self.files.edits,
            ..found
        };
        if Flag::is_gate_changed(self) && !self.flags.contains(&Flag::GateChanged) {
            self.flags.push(Flag::GateChanged);
        }
    }

    /// Returns whether nothing was seen of the run.
    pub fn is_empty(&self) -> bool {
        self.turns == 0 && self.failed_requests == 0 && self.tools.is_empty()
    }
}

impl CommandEnd {
    /// Returns the end of a command with this exit code.
    pub(crate) fn exited(code: i32) -> Self {
        Self {
            exit: Some(code),
            cut: None,
        }
    }

    fn cut_short(cut: CutShort) -> Self {
        Self {
            exit: None,
            cut: Some(cut),
        }
    }

    /// Returns the end of a command whose agent does not tell it. It never counts as passed.
    pub(crate) fn not_told() -> Self {
        Self::cut_short(CutShort::NotTold)
    }

    /// Reads the end of a shell command. Both kinds of child of ours mark a command that did not exit with
    /// 0 as an error, and give the reason in its last line.
    pub(crate) fn read(is_error: bool, last_line: &str) -> Self {
        if !is_error {
            return Self::exited(0);
        }
        let code = last_line.strip_prefix("Command exited with code ");
        if let Some(code) = code.and_then(|code| code.trim().parse().ok()) {
            return Self::exited(code);
        }
        Self::cut_short(if last_line.starts_with("Command timed out after ") {
            CutShort::TimedOut
        } else if last_line == "Command aborted" {
            CutShort::Aborted
        } else {
            CutShort::Unknown
        })
    }
}
