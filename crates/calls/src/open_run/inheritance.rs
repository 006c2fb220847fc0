//! The inheritance of a run that continues another one: the terms that the calls of its session have
//! set, and the worktree.

use std::path::PathBuf;

use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_vocabulary::RunTerms;

use pi_subagents_runs::workspace::{EarlierWorktree, Workspace};

/// The parts of an earlier run that the next run of its session inherits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inherited {
    terms: RunTerms,
    /// The definition that the earlier run used.
    definition: Option<String>,
    /// The worktree in which it goes on, if the earlier run had one.
    pub(crate) worktree: Option<EarlierWorktree>,
    /// The directory of the caller's checkout for which that worktree was made.
    pub(crate) cwd: Option<PathBuf>,
}

impl Inherited {
    /// Reads what the next run after this one inherits.
    pub(crate) fn of(run: &IndexedRun) -> Self {
        // A run whose record is gone leaves nothing to inherit.
        let recorded = RecordedRun::read(&run.directory).ok();
        Self::new(recorded.as_ref(), Workspace::read(run.directory.path()))
    }

    /// Puts together what was read already.
    pub fn new(recorded: Option<&RecordedRun>, workspace: Option<Workspace>) -> Self {
        let definition = recorded.and_then(|run| run.task.definition.as_ref());
        let mut terms = recorded.map(|run| run.terms.clone()).unwrap_or_default();
        if let Some(model) = recorded.and_then(last_model) {
            terms.model = Some(model);
        }
        Self {
            terms,
            definition: definition.map(|used| used.name.clone()),
            cwd: workspace.as_ref().map(Workspace::task_directory),
            worktree: workspace.and_then(EarlierWorktree::of),
        }
    }

    /// Returns the terms for a task that uses this definition. The kind of child, the model and the
    /// tools belong to the definition, so another one brings its own.
    pub(crate) fn terms_for(&self, definition: Option<&str>) -> RunTerms {
        let terms = self.terms.clone();
        match definition {
            Some(other) if self.definition.as_deref() != Some(other) => terms.of_any_child(),
            Some(_) | None => terms,
        }
    }
}

/// Returns the model with which a run ended, if that is not the one it began with.
fn last_model(run: &RecordedRun) -> Option<String> {
    let receipt = run.end.as_ref()?.receipt.as_ref()?;
    receipt.fallbacks.last().map(|change| change.to.clone())
}
