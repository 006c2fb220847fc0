//! Settles the worktree of a run that is over, however the run ended: its changes are kept, and a
//! worktree without changes is removed.

use std::path::Path;

use pi_subagents_files::write_whole;
use pi_subagents_git::{
    Captured, Change, LargeUntracked, LeftOut, ObjectId, Pin, Repository, WhyLeftOut,
    WorkspaceError, WorkspaceKind, WorktreeSubmodule, changes, forget_submodules, is_pinned,
    is_worktree_locked, open_submodule, patch, pin, remove_branch, remove_worktree_directory,
    unlock_worktree, unpin,
};
use pi_subagents_records::{RunDir, note_changed_files};
use pi_subagents_vocabulary::{RunId, Timestamp};

use super::checkout_guard::changed_meanwhile;
use super::tries::Tries;
use super::unsettled_worktrees::forget_unsettled;
use super::{LeftOutFile, Workspace, WorkspaceFile, WorkspaceResult, WorkspaceState, Worktree};
use crate::submodule_changes::submodule_note;

pub const PATCH: &str = "changes.patch";

/// Settles the worktree of a run that is over, and returns its state then; `None` if the run has
/// none. A worktree that was settled before is left alone, and one that could not be kept is tried
/// again once an hour.
pub fn settle(directory: &Path, run: &RunId) -> Option<Workspace> {
    settle_if_due(directory, run, Tries::Again)
}

/// Settles the worktree of a run that is over, unless somebody has tried that before.
pub fn settle_first(directory: &Path, run: &RunId) -> Option<Workspace> {
    settle_if_due(directory, run, Tries::First)
}

fn settle_if_due(directory: &Path, run: &RunId, tries: Tries) -> Option<Workspace> {
    let mut workspace = Workspace::read(directory)?;
    let Some(worktree) = workspace.worktree.clone() else {
        return Some(workspace);
    };
    let now = Timestamp::now();
    if !workspace.is_due(tries, now) {
        return Some(workspace);
    }
    workspace.tried_at = None;
    if let Err(error) = workspace.capture(&worktree, directory, run) {
        workspace.state = WorkspaceState::Uncaptured;
        workspace.tried_at = Some(now);
        let note = format!("what it left could not be kept yet: {error}");
        if !workspace.notes.contains(&note) {
            workspace.notes.push(note);
        }
    }
    let is_settled = workspace.state != WorkspaceState::Uncaptured;
    let note = workspace.note.take_if(|_| is_settled);
    // If it cannot be written, the next reader does the same again.
    if workspace.write(directory).is_ok() {
        forget_unsettled(note.as_deref());
    }
    if let Some(files) = workspace.changed_paths() {
        // Readers of the record look into the file of the worktree too, so a result that cannot be
        // written again costs nothing.
        _ = note_changed_files(&RunDir::new(directory), files);
    }
    Some(workspace)
}

/// Removes the directory and the branch of a worktree, if there is one, and notes the new state. Its
/// result has been kept elsewhere.
pub fn take_away(
    workspace: &mut Workspace,
    directory: &Path,
    state: WorkspaceState,
) -> Result<(), WorkspaceError> {
    if let Some(worktree) = &workspace.worktree {
        if worktree.is_locked() {
            let source = std::io::Error::other("a later run works in it, so it is not removed");
            let path = worktree.path.clone();
            return Err(WorkspaceError::File { path, source });
        }
        let repository = workspace.checkout()?.locked()?;
        worktree.remove(&repository)?;
    }
    workspace.state = state;
    // The worktree is gone, whether or not this can be written down.
    _ = workspace.write(directory);
    Ok(())
}

/// Notes the new state of the worktree for an earlier run in it.
pub fn note_state(directory: &Path, state: WorkspaceState) {
    if let Some(mut workspace) = Workspace::read(directory) {
        workspace.state = state;
        // If it cannot be written, the run is only listed once more than it should be.
        _ = workspace.write(directory);
    }
}

impl Workspace {
    /// Keeps the changes of the run.
    fn capture(
        &mut self,
        worktree: &Worktree,
        directory: &Path,
        run: &RunId,
    ) -> Result<(), WorkspaceError> {
        let repository = self.checkout()?.locked()?;
        if self.state == WorkspaceState::Planned {
            // No child has worked in it: its owner was killed, or could not make it.
            return self.forget_planned(worktree, &repository, run);
        }
        let base = self
            .base
            .as_ref()
            .and_then(|base| ObjectId::parse(&base.commit));
        let (Some(base), Some(opened)) = (base, worktree.open(&repository)?) else {
            return self.capture_branch(worktree, &repository, run);
        };
        let kind = WorkspaceKind::Worktree(LargeUntracked::LeftOut);
        let captured = Captured::take(&opened, &base, kind)?;
        let has_changed_submodules = self.capture_submodules(worktree, &repository, run)?;
        self.checkout_changed = changed_meanwhile(&repository, directory);
        if captured.is_unchanged && !has_changed_submodules {
            return self.forget(worktree, &repository, run);
        }
        captured.pin(&repository, run.as_str())?;
        unlock_worktree(&repository, &worktree.path)?;
        self.take(&repository, &base, &captured, directory)
    }

    /// Keeps what was left in submodules, in their own repositories. Returns whether there was
    /// anything.
    fn capture_submodules(
        &mut self,
        worktree: &Worktree,
        repository: &Repository,
        run: &RunId,
    ) -> Result<bool, WorkspaceError> {
        let mut has_changes = false;
        for submodule in &self.submodules {
            let Some(base) = ObjectId::parse(&submodule.base) else {
                continue;
            };
            if !worktree.path.join(&submodule.path).exists() {
                continue;
            }
            let part = WorktreeSubmodule {
                path: submodule.path.clone(),
                base: base.clone(),
                git_dir: submodule.git_dir.clone(),
            };
            let part = open_submodule(repository, &worktree.path, &part)?;
            let kind = WorkspaceKind::Worktree(LargeUntracked::LeftOut);
            let captured = Captured::take(&part, &base, kind)?;
            if captured.is_unchanged {
                continue;
            }
            pin(&part, run.as_str(), Pin::Base, &base)?;
            captured.pin(&part, run.as_str())?;
            has_changes = true;
            let note = submodule_note(&submodule.path, run.as_str());
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(has_changes)
    }

    /// Captures once more a worktree in which somebody may have worked since, for example its
    /// caller by hand, or whose large files somebody wants.
    pub(crate) fn capture_again(
        &mut self,
        worktree: &Worktree,
        directory: &Path,
        run: &RunId,
        large: LargeUntracked,
    ) -> Result<(), WorkspaceError> {
        let base = self.base.as_ref();
        let base = base.and_then(|base| ObjectId::parse(&base.commit));
        let repository = self.checkout()?.locked()?;
        let (Some(base), Some(opened)) = (base, worktree.open(&repository)?) else {
            return Ok(());
        };
        let captured = Captured::take(&opened, &base, WorkspaceKind::Worktree(large))?;
        self.capture_submodules(worktree, &repository, run)?;
        captured.pin(&repository, run.as_str())?;
        self.take(&repository, &base, &captured, directory)
    }

    /// Keeps the branch of a worktree whose directory is gone, if anything was committed to it.
    fn capture_branch(
        &mut self,
        worktree: &Worktree,
        repository: &Repository,
        run: &RunId,
    ) -> Result<(), WorkspaceError> {
        if worktree.path.exists() {
            let words = "the directory is there, and git does not know it as a worktree any more";
            let (path, source) = (worktree.path.clone(), std::io::Error::other(words));
            return Err(WorkspaceError::File { path, source });
        }
        let tip = repository.commit_of(&format!("refs/heads/{}", worktree.branch))?;
        let base = self
            .base
            .as_ref()
            .and_then(|base| ObjectId::parse(&base.commit));
        let (Some(tip), Some(base)) = (tip, base) else {
            return self.forget(worktree, repository, run);
        };
        if tip == base {
            return self.forget(worktree, repository, run);
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
        worktree.remove(repository)?;
        self.notes.push(
            "its directory was removed by somebody else; only what it had committed is kept"
                .to_owned(),
        );
        self.left = Some(WorkspaceResult::of(repository, &base, &captured)?);
        self.state = WorkspaceState::Captured;
        Ok(())
    }

    /// Removes a worktree that was not made to its end. A branch that leads to something which
    /// nothing else leads to was there before, and stays.
    fn forget_planned(
        &mut self,
        worktree: &Worktree,
        repository: &Repository,
        run: &RunId,
    ) -> Result<(), WorkspaceError> {
        let tip = repository.commit_of(&format!("refs/heads/{}", worktree.branch))?;
        let is_own = match &tip {
            Some(tip) => is_pinned(repository, tip)?,
            None => true,
        };
        if is_own {
            return self.forget(worktree, repository, run);
        }
        remove_worktree_directory(repository, &worktree.path)?;
        forget_submodules(repository, &worktree.path)?;
        unpin(repository, run.as_str())?;
        self.state = WorkspaceState::Unchanged;
        Ok(())
    }

    /// Removes a worktree without changes, and all that was kept for it.
    fn forget(
        &mut self,
        worktree: &Worktree,
        repository: &Repository,
        run: &RunId,
    ) -> Result<(), WorkspaceError> {
        worktree.remove(repository)?;
        unpin(repository, run.as_str())?;
        self.state = WorkspaceState::Unchanged;
        Ok(())
    }

    /// Compares its result with another state from now on: parts of it were accepted, or are not any
    /// more.
    pub(crate) fn begin_from(
        &mut self,
        repository: &Repository,
        change: &Change,
        directory: &Path,
    ) -> Result<(), WorkspaceError> {
        if let Some(base) = &mut self.base {
            base.commit = change.base.to_string();
            base.is_moved |= self.parts.is_some();
        }
        let files = changes(repository, &change.base, &change.result)?;
        let patch = patch(repository, &change.base, &change.result)?;
        if let Some(left) = &mut self.left {
            left.files = files.iter().map(WorkspaceFile::of).collect();
            let file = directory.join(PATCH);
            left.patch = patch
                .filter(|text| write_whole(&file, text).is_ok())
                .map(|_| file);
        }
        let written = self.write(directory);
        written.map_err(|source| WorkspaceError::File {
            path: directory.to_owned(),
            source,
        })
    }

    /// Writes down the result that was kept.
    pub(super) fn take(
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
        self.left_out = captured.left_out.iter().map(LeftOutFile::of).collect();
        for file in &self.left_out {
            let note = file.sentence();
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let is_copy = |file: &&WorkspaceFile| {
            let mut copies = self.included.iter();
            copies.any(|copy| copy.display().to_string() == file.path)
        };
        let added = left.files.iter().filter(is_copy);
        self.added_copies = added.map(|file| file.path.clone().into()).collect();
        self.left = Some(left);
        self.state = WorkspaceState::Captured;
        Ok(())
    }
}

impl Worktree {
    /// Removes directory and branch, with the submodules in it.
    pub(super) fn remove(&self, repository: &Repository) -> Result<(), WorkspaceError> {
        remove_worktree_directory(repository, &self.path)?;
        forget_submodules(repository, &self.path)?;
        remove_branch(repository, &self.branch)
    }

    /// Returns whether a run works in it.
    pub fn is_locked(&self) -> bool {
        self.git_dir.as_deref().is_some_and(is_worktree_locked)
    }

    /// Opens the worktree of a checkout; `None` if its directory is gone.
    pub fn open(&self, checkout: &Repository) -> Result<Option<Repository>, WorkspaceError> {
        if std::fs::symlink_metadata(&self.path).is_err() {
            return Ok(None);
        }
        let foreign = || WorkspaceError::ForeignGit {
            path: self.path.clone(),
        };
        let git_dir = self.git_dir.as_deref().ok_or_else(foreign)?;
        checkout.worktree(&self.path, git_dir).map(Some)
    }
}

impl LeftOutFile {
    fn of(left: &LeftOut) -> Self {
        let path = left.path.display().to_string();
        match left.why {
            WhyLeftOut::TooLarge { bytes } => Self {
                path,
                bytes: Some(bytes),
            },
            WhyLeftOut::NestedRepository => Self { path, bytes: None },
        }
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
