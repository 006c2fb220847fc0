//! A call with everything resolved: after this nothing is optional and nothing is looked up again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Allowance, Completion, Gate, ModelChoice, RunId, Runner, Secret, SessionId, SessionPolicy,
    Setup, SystemPrompt, ToolPolicy,
};

/// The tasks of one call, in the order the caller gave them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The tasks; each becomes one run.
    pub tasks: Vec<PlannedTask>,
}

/// One task, ready or refused; a refusal ends its task and no other.
#[derive(Debug, Clone)]
pub struct PlannedTask {
    /// The task.
    pub task: Arc<Task>,
    /// The plan for the task, or the reason why it is refused.
    pub work: Result<Box<TaskPlan>, Refusal>,
}

/// The caller's task, with the ids of its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The run this task becomes.
    pub run: RunId,
    /// The session the run belongs to.
    pub session: SessionId,
    /// The name the caller gave it.
    pub name: String,
    /// The prompt as the caller gave it, without files and transcript.
    pub prompt: String,
    /// The directory the child works in.
    pub cwd: PathBuf,
    /// The definition it uses, if any.
    pub definition: Option<UsedDefinition>,
    /// The time it was given, if any.
    pub timeout: Option<Duration>,
    /// The run's directory, if one could be made.
    pub directory: Option<PathBuf>,
    /// The number of bytes that the files in the directory may take.
    pub record_limit: u64,
    /// The tools of the session that it continues, because its child lists only new ones.
    pub known_tools: Option<BTreeSet<String>>,
    /// Commands that run tests, beside the well-known ones; each as its first words.
    pub test_commands: Vec<String>,
    /// True if its report must meet a schema.
    pub has_schema: bool,
}

/// A definition that a task uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedDefinition {
    /// Its name.
    pub name: String,
    /// The definition in one line.
    pub summary: String,
    /// The model that was asked for with it.
    pub model: ModelChoice,
    /// The file it came from, if it is known.
    pub file: Option<PathBuf>,
}

/// The plan by which a task will be done.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPlan {
    /// The kind of child.
    pub runner: Runner,
    /// The program that is started.
    pub program: Program,
    /// The whole prompt: files, transcript and the caller's words.
    pub prompt: String,
    /// The model that answers.
    pub model: ModelChoice,
    /// The system prompt of the child.
    pub system_prompt: SystemPrompt,
    /// The tools of the child.
    pub tools: ToolPolicy,
    /// The place where the child keeps its own session.
    pub session: SessionPolicy,
    /// The condition under which the run counts as done.
    pub completion: Completion,
    /// The command that prepares the worktree before the first child, if there is one.
    pub setup: Option<Setup>,
    /// The commands that must pass before the run counts as completed, in their order.
    pub gates: Vec<Gate>,
    /// The checkout that the run shares with others, unless it has one of its own.
    pub shared: Option<SharedCheckout>,
    /// The limits of the run.
    pub limits: Limits,
    /// True if the child may use the configuration in the project's directory.
    pub trusted: bool,
    /// Further arguments for the child.
    pub extra_arguments: Vec<String>,
    /// The key of its provider, which reaches the child on a descriptor and nowhere else.
    pub api_key: Option<Secret>,
}

/// A checkout in which several runs may work at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCheckout {
    /// The directory of the checkout.
    pub root: PathBuf,
    /// The file that is locked while a gate runs there.
    pub gate_lock: PathBuf,
    /// The file whose lock is shared by all runs that are at work there.
    pub work_lock: PathBuf,
}

/// A program and the arguments that always come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// For example the script that Node runs.
    pub arguments: Vec<OsString>,
    /// True if it is a pi that starts MCP servers unless it gets `--no-mcp`.
    pub has_mcp: bool,
    /// True if a continued session keeps the tools it had, unless others are named.
    pub keeps_tools: bool,
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time from the start of the child, if it is limited.
    pub timeout: Option<Duration>,
    /// The time for which tools may be silent once the time limit is reached.
    pub extension: Duration,
    /// The number of equal tool calls in a row that count as a loop; 0 for never.
    pub repetitions: u32,
    /// The limits of what it may consume.
    pub allowance: Allowance,
}

/// The reason why a task was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The text for a person.
    pub message: String,
}
