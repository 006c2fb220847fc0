//! Gets rid of a worktree whose result cannot be kept. Nothing that is in it, and nothing that is
//! wrong with its repository, keeps it.

use std::path::Path;

use pi_subagents_git::{
    ObjectId, Pin, Repository, WorkspaceError, discard, forget_submodules, pin,
    remove_worktree_directory,
};
use pi_subagents_vocabulary::RunId;

use super::unsettled_worktrees::forget_unsettled;
use super::{Workspace, WorkspaceState, Worktree};

/// Removes the directory of a worktree, and sets aside the commits of its branch as far as git can.
/// Returns the ref under which they can be found. Fails only if the directory cannot be removed.
pub fn give_up(
    workspace: &mut Workspace,
    directory: &Path,
    run: &RunId,
) -> Result<Option<String>, WorkspaceError> {
    let mut kept = None;
    if let Some(worktree) = workspace.worktree.clone() {
        let repository = workspace.checkout().and_then(|found| found.locked()).ok();
        if let Some(repository) = &repository {
            // Commits that cannot be kept do not keep the directory either.
            kept = workspace.set_aside(&worktree, repository, run).ok();
        }
        remove(repository.as_ref(), &worktree)?;
    }
    workspace.state = WorkspaceState::Discarded;
    let note = workspace.note.take();
    // The worktree is gone, whether or not this can be written down.
    _ = workspace.write(directory);
    forget_unsettled(note.as_deref());
    Ok(kept.flatten())
}

impl Workspace {
    /// Sets aside what the branch of the worktree leads to.
    fn set_aside(
        &self,
        worktree: &Worktree,
        repository: &Repository,
        run: &RunId,
    ) -> Result<Option<String>, WorkspaceError> {
        let tip = repository.commit_of(&format!("refs/heads/{}", worktree.branch))?;
        let base = self.base.as_ref();
        let base = base.and_then(|base| ObjectId::parse(&base.commit));
        if let Some(tip) = tip.filter(|tip| base.as_ref() != Some(tip)) {
            pin(repository, run.as_str(), Pin::Result, &tip)?;
        }
        discard(repository, run.as_str())
    }
}

fn remove(repository: Option<&Repository>, worktree: &Worktree) -> Result<(), WorkspaceError> {
    let Some(repository) = repository else {
        return pi_subagents_git::remove_directory(&worktree.path);
    };
    remove_worktree_directory(repository, &worktree.path)?;
    // What stays of these is a name in git that leads to nothing of value.
    _ = forget_submodules(repository, &worktree.path);
    _ = pi_subagents_git::remove_branch(repository, &worktree.branch);
    Ok(())
}
