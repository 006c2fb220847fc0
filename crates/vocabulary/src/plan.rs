//! A call with everything resolved: after this nothing is optional and nothing is looked up again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BudgetLimits, CompletedAttempt, FedPrompt, Here, ModelChoice, PickedAttempt, RunId, Sandbox,
    SessionId, TaskGraph, WeighedAttempts, Work,
};

/// The tasks of one call, in the order the caller gave them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The tasks; each becomes one run.
    pub tasks: Vec<PlannedTask>,
    /// The order in which they may begin, if some wait for others.
    pub graph: Option<PlannedGraph>,
}

impl Plan {
    /// Makes a plan of tasks that do not wait for each other.
    pub fn of(tasks: Vec<PlannedTask>) -> Self {
        Self { tasks, graph: None }
    }
}

/// The graph of a call whose tasks wait for others.
#[derive(Debug, Clone)]
pub struct PlannedGraph {
    /// The tasks as the call names them.
    pub graph: TaskGraph,
    /// Opens the runs of maps whose items are not known yet.
    pub opener: Arc<dyn MapOpener>,
}

/// Opens the runs of a map when its items are known.
pub trait MapOpener: fmt::Debug + Send + Sync {
    /// Opens a run for each item of a task, or one run that will never begin if there are none. It
    /// may block. Everything that is wrong becomes a refusal, so there is at least one run.
    fn open(&self, task: usize, items: Option<Vec<Value>>) -> Vec<PlannedTask>;

    /// Looks at the attempts at a task that have completed. Picks one of them, or opens the run of
    /// their judge, which is returned then. It may block.
    fn weigh(
        &self,
        task: usize,
        attempts: &[CompletedAttempt],
    ) -> (WeighedAttempts, Option<PlannedTask>);

    /// Returns the worktree of a run that is over, by the directory of its record.
    fn workspace(&self, directory: &Path) -> Option<Value>;

    /// Takes the outcome of attempts, for the answer to the call.
    fn note_picked(&self, picked: PickedAttempt);

    /// Returns the outcomes of attempts.
    fn picked(&self) -> Vec<PickedAttempt>;

    /// Returns the runs that it has opened.
    fn opened(&self) -> Vec<RunId>;
}

/// One task, ready or refused; a refusal ends its task and no other.
#[derive(Debug, Clone)]
pub struct PlannedTask {
    /// The task.
    pub task: Arc<Task>,
    /// The plan for the task, or the reason why it is refused.
    pub work: Result<Box<TaskPlan>, Refusal>,
    /// Its place in its call.
    pub place: CallPlace,
    /// Its prompt, if it gets the results of other tasks.
    pub fed: Option<FedPrompt>,
    /// The warnings about a task that was opened while its call was under way.
    pub warnings: Vec<String>,
}

impl PlannedTask {
    /// Plans a task that waits for no other.
    pub fn alone(task: Arc<Task>, work: Result<Box<TaskPlan>, Refusal>) -> Self {
        Self {
            task,
            work,
            place: CallPlace::default(),
            fed: None,
            warnings: Vec::new(),
        }
    }
}

/// The place of a run in its call.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct CallPlace {
    /// The number of its task.
    pub task: usize,
    /// The number of its item, if the task has items.
    pub item: usize,
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
    /// The model as the caller wrote it, if the caller named one.
    pub requested_model: Option<String>,
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
    /// The sandbox of its run.
    pub sandbox: Sandbox,
    /// The limits of all runs of its call together; none in a record, which knows one run.
    pub call_budget: BudgetLimits,
    /// The time at which its run was opened, which the record has too; none if somebody else
    /// opened it.
    pub accepted_at: Option<Timestamp>,
    /// Its call, if that can be gone on with.
    pub call: Option<CallOfRun>,
}

/// The call of a run, as its record has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallOfRun {
    /// The id of the call. A call that goes on with the rest of another one has the same.
    pub id: String,
    /// The place of the run in the call.
    #[serde(flatten)]
    pub place: CallPlace,
    /// All tasks of the call, in one of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Value>,
}

impl Task {
    /// Makes a task of which nothing else is known: no agent, no limits, no record.
    pub fn new(
        run: RunId,
        session: SessionId,
        name: impl Into<String>,
        prompt: impl Into<String>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            run,
            session,
            name: name.into(),
            prompt: prompt.into(),
            cwd: cwd.into(),
            definition: None,
            requested_model: None,
            timeout: None,
            directory: None,
            record_limit: 0,
            known_tools: None,
            test_commands: Vec::new(),
            has_schema: false,
            sandbox: Sandbox::default(),
            call_budget: BudgetLimits::default(),
            accepted_at: None,
            call: None,
        }
    }
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
    /// The part that holds on every machine.
    pub work: Work,
    /// The part that belongs to this machine.
    pub here: Here,
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

/// The reason why a task was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The text for a person.
    pub message: String,
}
