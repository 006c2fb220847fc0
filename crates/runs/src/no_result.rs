//! A run with nothing that could be merged, discarded or kept, and the reason.

use pi_subagents_git::Repository;
use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Advice, RunId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::submodule_changes::{changed_submodules, submodule_note};
use crate::workspace::{Workspace, WorkspaceState};
use pi_subagents_ground::error::CommandError;

/// A run that has not got what was asked for.
#[derive(Debug)]
pub struct NoResult {
    pub run: Box<IndexedRun>,
    /// The reason, with the run as its subject: `is still running`.
    why: CommandError,
}

impl NoResult {
    pub fn new(run: &IndexedRun, why: CommandError) -> Self {
        let run = Box::new(run.clone());
        Self { run, why }
    }

    /// Says that a run has not ended yet, and what helps: the advice, and what it does.
    pub(crate) fn is_running(run: &IndexedRun, advice: Advice, does: &str) -> Self {
        let why = CommandError::no_answer("is still running");
        Self::new(run, why.advise("", advice, does))
    }

    /// Finds out why git has no result of a run.
    pub(crate) fn of(run: &IndexedRun, workspace: Option<&Workspace>) -> Self {
        Self::new(run, reason(run, workspace))
    }

    /// Says that nothing of a run waits in a worktree, so that there is nothing `to` do with it.
    pub fn nothing_waits(run: &IndexedRun, workspace: Option<&Workspace>, to: &str) -> Self {
        let has_worktree = workspace.is_some_and(|workspace| workspace.path().is_some());
        let because = match workspace.map(|workspace| workspace.state) {
            _ if !has_begun(run) => "it never began",
            None => "it has no worktree",
            Some(WorkspaceState::Planned | WorkspaceState::Ready) => "it is running",
            Some(WorkspaceState::Unchanged) => "nothing was changed",
            Some(WorkspaceState::Merged) => "it was merged",
            Some(WorkspaceState::Discarded) => "it was discarded",
            Some(_) if !has_worktree => "it has no worktree on this machine",
            Some(WorkspaceState::Captured | WorkspaceState::Uncaptured) => {
                "the directory of its worktree is gone"
            }
        };
        let why = CommandError::no_answer(format!("has nothing to {to}: {because}"));
        Self::new(run, why)
    }

    /// Gives a better reason.
    pub fn because(mut self, why: CommandError) -> Self {
        self.why = why;
        self
    }

    /// Says why, with the run as the subject that is not named.
    pub fn why(&self) -> String {
        self.why.message().to_owned()
    }

    /// Says it in a sentence whose subject is the task.
    pub fn sentence(&self) -> String {
        format!("{} {}", one_line(&self.run.name), self.why.message())
    }

    /// Says it in a sentence that names the run.
    fn whole_sentence(&self) -> String {
        format!("{} (run {})", self.sentence(), self.run.run)
    }

    /// Says it in a line of a list: `✗ api is still running  3f2a`.
    pub fn line(&self) -> String {
        format!("✗ {}  {}", self.sentence(), self.run.run)
    }

    /// Describes it for programs.
    pub fn printed(&self) -> PrintedNoResult<'_> {
        PrintedNoResult {
            run_id: &self.run.run,
            name: &self.run.name,
            error: self.sentence(),
        }
    }

    /// Returns one error for runs none of which has what was asked for.
    pub fn all(mut without: Vec<Self>) -> CommandError {
        if without.len() < 2 {
            let only = without.pop().map(CommandError::from);
            return only.unwrap_or_else(|| CommandError::usage("no run was named"));
        }
        let lines: Vec<String> = without.iter().map(Self::whole_sentence).collect();
        CommandError::no_answer(lines.join("\n  "))
    }
}

/// A run without a result, as programs get it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedNoResult<'a> {
    run_id: &'a RunId,
    /// The name of the task.
    name: &'a str,
    /// The reason, in a sentence.
    error: String,
}

impl From<NoResult> for CommandError {
    fn from(without: NoResult) -> Self {
        let sentence = without.whole_sentence();
        without.why.reworded(sentence)
    }
}

fn reason(run: &IndexedRun, workspace: Option<&Workspace>) -> CommandError {
    let id = &run.run;
    if !has_begun(run) {
        return CommandError::no_answer("has no result: it never began").advise(
            "",
            Advice::Status(id.to_string()),
            " says why.",
        );
    }
    if let Some(workspace) = workspace {
        let words = if workspace.is_unmerged() {
            why_unreachable(workspace)
        } else {
            workspace.state_words()
        };
        return CommandError::no_answer(format!("has no result: {words}"));
    }
    if run.owner.fleet.is_some() {
        let recorded = RecordedRun::read(&run.directory).ok();
        let project = recorded.and_then(|recorded| Repository::find(&recorded.task.cwd).ok());
        let submodules = project.map(|project| changed_submodules(&project, id.as_str()));
        let submodules = submodules.unwrap_or_default();
        let hints = submodules
            .iter()
            .map(|path| submodule_note(path, id.as_str()));
        let why = CommandError::no_answer("has left no changes in this repository");
        return hints.fold(why, CommandError::hint);
    }
    CommandError::no_answer("has no separate result: it worked in the checkout itself").hint(
        "git diff shows what has changed there. With --isolation worktree each run works in a \
         worktree of its own.",
    )
}

/// Says why a result that waits cannot be found.
fn why_unreachable(workspace: &Workspace) -> String {
    if workspace.state == WorkspaceState::Uncaptured {
        let path = workspace.path().unwrap_or(&workspace.repository);
        return format!(
            "what it left could not be kept, and is only in {}",
            path.display()
        );
    }
    match Repository::find(&workspace.repository) {
        Ok(repository) => {
            let top = repository.top().display();
            format!("the refs that kept it are gone from {top}")
        }
        Err(error) => format!("its repository cannot be read: {error}"),
    }
}

/// Returns whether a child worked for the run. A run whose worktree cannot be made has none.
pub fn has_begun(run: &IndexedRun) -> bool {
    let recorded = RecordedRun::read(&run.directory).ok();
    let end = recorded.and_then(|recorded| recorded.end);
    end.is_none_or(|end| end.started_at.is_some())
}
