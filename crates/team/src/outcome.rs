//! The outcomes of tasks, as a program gets them.

use std::borrow::Cow;
use std::path::PathBuf;

use pi_subagents_vocabulary::{RunReport, RunSummary};
use serde::de::DeserializeOwned;

use super::workspace::TaskWorkspace;
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
///     let report = &outcome.report;
///     match report.status {
///         Status::Completed => println!("{:?}", report.output),
///         _ => println!("{} went wrong: {:?}", report.name, report.error_message),
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

/// The outcome of one task: the report of its run, and its worktree.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The report of the run, with the whole answer: the same as `--json` prints.
    pub report: RunReport,
    /// The worktree in which it worked, if it had one of its own.
    pub workspace: Option<TaskWorkspace>,
    /// The directory of its record.
    pub directory: Option<PathBuf>,
}

impl Delegated {
    pub(super) fn new(answer: &Answer) -> Self {
        let runs = answer.outcomes().iter();
        Self {
            outcomes: runs.filter_map(|run| Outcome::of(run, answer)).collect(),
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
        let structured = self.report.structured.as_ref();
        structured.map(T::deserialize).transpose()
    }

    fn of(run: &RunSummary, answer: &Answer) -> Option<Self> {
        let task = run.task.as_ref()?;
        let mut report = run.report()?;
        report.output = whole_output(task, run).map(Cow::into_owned);
        report.error_message = run.problem();
        Some(Self {
            report,
            workspace: answer.worktree(task).map(TaskWorkspace::of),
            directory: task.directory.clone(),
        })
    }
}
