//! A session that had a worktree goes on in it. If its directory is gone it is made anew at the same
//! path, because pi goes on with a session only where that was.

use std::path::Path;

use pi_subagents_git::{ObjectId, Pin, Repository, WorkspaceError, bring_into, lock_worktree, pin};
use pi_subagents_vocabulary::BaseChoice;

use super::paths::tail;
use super::{Beginning, EarlierWorktree, PlannedWorktree, Wish, of_file};
use pi_subagents_runs::workspace::{
    Workspace, WorkspaceState, Worktree, brought_words, note_checkout,
};

impl Wish<'_> {
    pub(super) fn plan_again(
        &self,
        earlier: &EarlierWorktree,
        base: &BaseChoice,
        directory: &Path,
    ) -> Result<PlannedWorktree, WorkspaceError> {
        let EarlierWorktree { workspace, onto } = earlier;
        let Some(worktree) = &workspace.worktree else {
            return self.plan_new(base, directory);
        };
        let is_there = worktree.path.is_dir();
        if is_there && worktree.is_locked() {
            let words = "another run works in it";
            return Err(of_file(&worktree.path, std::io::Error::other(words)));
        }
        let beginning = match result_of(workspace) {
            _ if is_there => Beginning::There {
                onto: onto.as_deref().and_then(ObjectId::parse),
            },
            Some(result) => Beginning::Anew {
                result,
                onto: onto.as_deref().and_then(ObjectId::parse),
            },
            None => Beginning::New(base.clone()),
        };
        let repository = self.with_trust(Repository::find(&workspace.repository)?)?;
        if is_there {
            // A run goes on only where its result can be kept.
            worktree.open(&repository)?;
        }
        let again = Worktree {
            path: worktree.path.clone(),
            branch: self.branch(&repository, worktree)?,
            git_dir: worktree.git_dir.clone().filter(|_| is_there),
        };
        let mut planned = self.planned(repository, again, beginning, directory)?;
        if !matches!(planned.beginning, Beginning::New(_)) {
            planned.workspace.base.clone_from(&workspace.base);
            planned
                .workspace
                .submodules
                .clone_from(&workspace.submodules);
            planned.workspace.included.clone_from(&workspace.included);
            planned.workspace.is_kept = workspace.is_kept;
        }
        Ok(planned)
    }
}

impl Wish<'_> {
    /// Returns the branch of the worktree: the one it had. If the directory is gone and the branch is
    /// not, somebody may want that, and the run gets a new one.
    fn branch(
        &self,
        repository: &Repository,
        worktree: &Worktree,
    ) -> Result<String, WorkspaceError> {
        let branch = worktree.branch.clone();
        let full = format!("refs/heads/{branch}");
        let is_free = worktree.path.is_dir() || repository.commit_of(&full)?.is_none();
        Ok(if is_free {
            branch
        } else {
            format!("{branch}-{}", tail(self.run))
        })
    }
}

/// Returns what waits to be merged. A result that was merged is in the checkout, and one that was
/// discarded was not wanted.
fn result_of(workspace: &Workspace) -> Option<ObjectId> {
    let left = workspace.left.as_ref();
    let left = left.filter(|_| workspace.state == WorkspaceState::Captured);
    left.and_then(|left| ObjectId::parse(&left.result))
}

impl PlannedWorktree {
    /// Makes the worktree of an earlier run anew from what that left.
    pub(super) fn begin_anew(
        &mut self,
        result: &ObjectId,
        onto: Option<&ObjectId>,
    ) -> Result<(), WorkspaceError> {
        self.written()?;
        let base = self.pin_base()?;
        self.add(result)?;
        self.bring(&base, onto)
    }

    /// Works on in the worktree of an earlier run, with the changes of the checkout if those are
    /// wanted.
    pub(super) fn go_on(&mut self, onto: Option<&ObjectId>) -> Result<(), WorkspaceError> {
        self.workspace.state = WorkspaceState::Ready;
        self.written()?;
        let base = self.pin_base()?;
        lock_worktree(&self.repository, &self.worktree.path, &self.reason())?;
        note_checkout(&self.repository, &self.directory)?;
        self.bring(&base, onto)
    }

    /// Merges a state of the checkout into the worktree, if one is wanted.
    fn bring(&mut self, base: &ObjectId, onto: Option<&ObjectId>) -> Result<(), WorkspaceError> {
        let Some(onto) = onto else {
            return Ok(());
        };
        let worktree = self.worktree.open(&self.repository)?;
        let worktree = worktree.ok_or_else(|| {
            let words = "the directory is gone";
            of_file(&self.worktree.path, std::io::Error::other(words))
        })?;
        let brought = bring_into(&worktree, base, onto)?;
        // Until the files were written, the old base counted: a result that lacks the changes of
        // the checkout must not look as if the child had taken them back.
        pin(&self.repository, self.run.as_str(), Pin::Base, onto)?;
        self.workspace.notes.push(brought_words(&brought));
        if let Some(base) = &mut self.workspace.base {
            onto.as_str().clone_into(&mut base.commit);
            base.is_moved = true;
        }
        self.written()
    }

    /// Keeps the state from which the earlier run began, which is the base of this one too.
    fn pin_base(&self) -> Result<ObjectId, WorkspaceError> {
        let base = self.workspace.base.as_ref();
        let base = base.and_then(|base| ObjectId::parse(&base.commit));
        let base = base.ok_or_else(|| {
            let words = "nobody noted what it began from";
            of_file(&self.worktree.path, std::io::Error::other(words))
        })?;
        pin(&self.repository, self.run.as_str(), Pin::Base, &base)?;
        Ok(base)
    }
}
