//! The outcomes of tasks, as a program gets them.

use std::borrow::Cow;
use std::path::PathBuf;

use pi_subagents_vocabulary::{
    Receipt, Rejected, RunId, RunSummary, SessionId, Status, Task, Usage,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::workspace::Workspace;
use pi_subagents_calls::{Answer, whole_output};

/// The outcomes of the tasks of one call.
///
/// ```no_run
/// # async fn example(team: &pi_subagents::Team) -> Result<(), pi_subagents::TeamError> {
/// use pi_subagents::{Status, Task};
///
/// let tasks = [Task::new("a", "Say hello."), Task::new("b", "Say goodbye.")];
/// let delegated = team.delegate(tasks, Vec::new()).await?;
/// for outcome in &delegated.outcomes {
///     match outcome.status {
///         Status::Completed => println!("{:?}", outcome.output),
///         _ => println!("{} went wrong: {:?}", outcome.name, outcome.error),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Delegated {
    /// One per task, in their order.
    pub outcomes: Vec<Outcome>,
    /// The warnings for a person, such as the names of files that were ignored.
    pub warnings: Vec<String>,
}

/// The outcome of one task.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The name of the task.
    pub name: String,
    /// The run; `pi-subagents events` prints its events.
    pub run: RunId,
    /// The session, by which it can be continued.
    pub session: SessionId,
    /// The status in which it ended.
    pub status: Status,
    /// The whole answer of the sub-agent.
    pub output: Option<String>,
    /// The error, in a sentence.
    pub error: Option<String>,
    /// The tokens and the cost of the run.
    pub usage: Usage,
    /// The receipt of the run: calls, changed files, commands, tests. `None` for a task that was
    /// refused.
    pub receipt: Option<Receipt>,
    /// The worktree in which it worked, if it had one of its own.
    pub workspace: Option<Workspace>,
    /// The result that meets the schema of the task, if it has one.
    pub result: Option<Value>,
    /// The best of the results that do not meet it, if none does.
    pub rejected: Option<Rejected>,
    /// The directory of its record.
    pub directory: Option<PathBuf>,
}

impl Delegated {
    pub(super) fn new(answer: &Answer) -> Self {
        let runs = answer.outcomes().iter();
        Self {
            outcomes: runs
                .filter_map(|run| Some(Outcome::new(run.task.as_ref()?, run, answer)))
                .collect(),
            warnings: answer.warnings().to_vec(),
        }
    }
}

impl Outcome {
    /// Reads the result that meets the schema of the task; `None` if there is none.
    ///
    /// ```no_run
    /// # use pi_subagents::Outcome;
    /// # fn example(outcome: &Outcome) -> Result<(), serde_json::Error> {
    /// #[derive(serde::Deserialize)]
    /// struct Finding {
    ///     file: String,
    ///     line: u32,
    /// }
    ///
    /// if let Some(finding) = outcome.structured::<Finding>()? {
    ///     println!("{}:{}", finding.file, finding.line);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn structured<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.result.as_ref().map(T::deserialize).transpose()
    }

    fn new(task: &Task, run: &RunSummary, answer: &Answer) -> Self {
        Self {
            name: task.name.clone(),
            run: task.run.clone(),
            session: task.session.clone(),
            status: run.status(),
            output: whole_output(task, run).map(Cow::into_owned),
            error: run.problem(),
            usage: run.usage,
            receipt: run.receipt(),
            workspace: answer.worktree(task).map(Workspace::of),
            result: run.structured.clone(),
            rejected: run.rejected.clone(),
            directory: task.directory.clone(),
        }
    }
}
