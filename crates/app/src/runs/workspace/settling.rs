//! What becomes of the worktree of a run that is over, however it ended: what is in it is kept, and
//! a worktree without changes is removed.

use std::path::Path;

use pi_subagents_delegation::RunId;
use pi_subagents_files::write_whole;
use pi_subagents_workspaces::{
    Captured, ObjectId, Repository, WorkspaceError, WorkspaceKind, changes, is_worktree_locked,
    patch, remove_worktree, unlock_worktree, unpin,
};

use super::{Workspace, WorkspaceFile, WorkspaceResult, WorkspaceState};

pub(crate) const PATCH: &str = "changes.patch";

/// Looks after the worktree of a run that is over, and returns how it is then; `None` if the run
/// has none. What was looked after before is left alone.
pub(crate) fn settle(directory: &Path, run: &RunId) -> Option<Workspace> {
    let mut workspace = Workspace::read(directory)?;
    match workspace.state {
        WorkspaceState::Planned | WorkspaceState::Ready | WorkspaceState::Uncaptured => {}
        WorkspaceState::Captured
        | WorkspaceState::Unchanged
        | WorkspaceState::Merged
        | WorkspaceState::Discarded => return Some(workspace),
    }
    if let Err(error) = workspace.capture(directory, run) {
        workspace.state = WorkspaceState::Uncaptured;
        let note = format!("what it left could not be kept yet: {error}");
        if !workspace.notes.contains(&note) {
            workspace.notes.push(note);
        }
    }
    // If it cannot be written, the next one who looks does the same again.
    _ = workspace.write(directory);
    Some(workspace)
}

/// Removes the directory and the branch of a worktree. Its result has been kept elsewhere.
pub(crate) fn take_away(
    workspace: &mut Workspace,
    directory: &Path,
    state: WorkspaceState,
) -> Result<(), WorkspaceError> {
    if is_worktree_locked(&workspace.path) {
        let source = std::io::Error::other("a later run works in it, so it is not removed");
        let path = workspace.path.clone();
        return Err(WorkspaceError::File { path, source });
    }
    let repository = Repository::find(&workspace.repository)?;
    let _held = repository.lock()?;
    remove_worktree(&repository, &workspace.path, &workspace.branch)?;
    workspace.state = state;
    // The worktree is gone, whether or not this can be written down.
    _ = workspace.write(directory);
    Ok(())
}

/// Notes for an earlier run of the same worktree what became of it.
pub(crate) fn note_state(directory: &Path, state: WorkspaceState) {
    if let Some(mut workspace) = Workspace::read(directory) {
        workspace.state = state;
        // If it cannot be written, the run is only listed once more than it should be.
        _ = workspace.write(directory);
    }
}

impl Workspace {
    /// Keeps what the run left.
    fn capture(&mut self, directory: &Path, run: &RunId) -> Result<(), WorkspaceError> {
        let repository = Repository::find(&self.repository)?;
        let _held = repository.lock()?;
        if self.state == WorkspaceState::Planned {
            // No child has worked in it: whoever made it was killed on the way.
            return self.forget(&repository, run);
        }
        let base = self
            .base
            .as_ref()
            .and_then(|base| ObjectId::parse(&base.commit));
        let (Some(base), Some(worktree)) = (base, self.worktree()) else {
            return self.capture_branch(&repository, run);
        };
        let captured = Captured::take(&worktree, &base, WorkspaceKind::Worktree)?;
        if captured.is_unchanged {
            return self.forget(&repository, run);
        }
        captured.pin(&repository, run.as_str())?;
        unlock_worktree(&repository, &self.path)?;
        self.take(&repository, &base, &captured, directory)
    }

    /// Returns the worktree, if it is there and whole enough to be read.
    fn worktree(&self) -> Option<Repository> {
        let path = std::fs::canonicalize(&self.path).ok()?;
        Repository::find(&path)
            .ok()
            .filter(|found| found.top() == path)
    }

    /// Keeps the branch of a worktree whose directory is gone, if anything was committed to it.
    fn capture_branch(
        &mut self,
        repository: &Repository,
        run: &RunId,
    ) -> Result<(), WorkspaceError> {
        if self.path.exists() {
            let words = "the directory is there, and git does not know it as a worktree any more";
            let (path, source) = (self.path.clone(), std::io::Error::other(words));
            return Err(WorkspaceError::File { path, source });
        }
        let tip = repository.commit_of(&format!("refs/heads/{}", self.branch))?;
        let base = self
            .base
            .as_ref()
            .and_then(|base| ObjectId::parse(&base.commit));
        let (Some(tip), Some(base)) = (tip, base) else {
            return self.forget(repository, run);
        };
        if tip == base {
            return self.forget(repository, run);
        }
        let captured = Captured {
            result: tip,
            commits: 0,
            left_uncommitted: 0,
            left: Vec::new(),
            left_out: Vec::new(),
            is_unchanged: false,
        };
        captured.pin(repository, run.as_str())?;
        remove_worktree(repository, &self.path, &self.branch)?;
        self.notes.push(
            "its directory was removed by somebody else; only what it had committed is kept"
                .to_owned(),
        );
        self.left = Some(WorkspaceResult::of(repository, &base, &captured)?);
        self.state = WorkspaceState::Captured;
        Ok(())
    }

    /// Removes a worktree without changes, and all that was kept for it.
    fn forget(&mut self, repository: &Repository, run: &RunId) -> Result<(), WorkspaceError> {
        remove_worktree(repository, &self.path, &self.branch)?;
        unpin(repository, run.as_str())?;
        self.state = WorkspaceState::Unchanged;
        Ok(())
    }

    /// Writes down what was kept.
    fn take(
        &mut self,
        repository: &Repository,
        base: &ObjectId,
        captured: &Captured,
        directory: &Path,
    ) -> Result<(), WorkspaceError> {
        let mut left = WorkspaceResult::of(repository, base, captured)?;
        let file = directory.join(PATCH);
        match patch(repository, base, &captured.result)? {
            Some(text) if write_whole(&file, &text).is_ok() => left.patch = Some(file),
            Some(_) => {}
            None => self
                .notes
                .push("its patch has more than 20 MB and was not written".to_owned()),
        }
        let nested = captured.left_out.iter().map(|left| {
            let path = left.path.display();
            format!("{path} is a repository of its own and was not kept")
        });
        self.notes.extend(nested);
        self.left = Some(left);
        self.state = WorkspaceState::Captured;
        Ok(())
    }
}

impl WorkspaceResult {
    fn of(
        repository: &Repository,
        base: &ObjectId,
        captured: &Captured,
    ) -> Result<Self, WorkspaceError> {
        let files = changes(repository, base, &captured.result)?;
        Ok(Self {
            result: captured.result.to_string(),
            commits: captured.commits,
            left_uncommitted: captured.left_uncommitted,
            files: files.iter().map(WorkspaceFile::of).collect(),
            patch: None,
        })
    }
}
