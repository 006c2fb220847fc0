//! Results that nobody wants: their worktrees go, and their commits can be found for some time.

use pi_subagents_sessions::IndexedRun;
use pi_subagents_workspaces::{Repository, discard as set_aside};

use crate::error::CommandError;
use crate::runs::results::failed;
use crate::runs::workspace::{Workspace, WorkspaceState, settle, take_away};

/// A run whose worktree can go.
pub(crate) struct Discardable {
    pub(crate) run: IndexedRun,
    pub(crate) workspace: Workspace,
}

impl Discardable {
    /// Looks at the worktree of a run; `None` if nothing waits in it.
    pub(crate) fn of(run: IndexedRun) -> Result<Option<Self>, CommandError> {
        if run.is_open() {
            let hint = format!("pi-subagents stop {} ends it.", run.run);
            return Err(CommandError::failed(format!("{} is still running", run.run)).hint(hint));
        }
        let Some(workspace) = settle(run.directory.path(), &run.run) else {
            return Ok(None);
        };
        if workspace.state == WorkspaceState::Uncaptured {
            let words = format!(
                "what {} left could not be kept, so it is not removed",
                run.run
            );
            let hint = format!("Look into {} yourself.", workspace.path.display());
            return Err(CommandError::failed(words).hint(hint));
        }
        Ok(workspace.is_unmerged().then_some(Self { run, workspace }))
    }

    /// Removes the worktree. Returns the ref under which its result can be found for 30 days.
    pub(crate) fn discard(mut self) -> Result<Option<String>, CommandError> {
        let repository =
            Repository::find(&self.workspace.repository).map_err(|error| failed(&error))?;
        let kept = set_aside(&repository, self.run.run.as_str()).map_err(|error| failed(&error))?;
        let directory = self.run.directory.path();
        take_away(&mut self.workspace, directory, WorkspaceState::Discarded)
            .map_err(|error| failed(&error))?;
        Ok(kept)
    }
}
