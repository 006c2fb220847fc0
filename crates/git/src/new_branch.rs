//! A new branch with changes as commits on top of each other. The checkout is not touched.

use crate::drivers::Drivers;
use crate::error::WorkspaceError;
use crate::matrix::Change;
use crate::merge_tree::{Conflict, merge_tree};
use crate::object_id::ObjectId;
use crate::repository::Repository;

/// A branch that is being made, on top of the commit that is checked out.
#[derive(Debug)]
pub struct NewBranch {
    repository: Repository,
    drivers: Drivers,
    name: String,
    tip: ObjectId,
}

/// The outcome of adding a change to a new branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedCommit {
    /// It is this commit.
    Commit(ObjectId),
    /// The branch has everything already.
    Nothing,
    /// Both cannot be. The branch is as it was.
    Conflicts(Vec<Conflict>),
}

impl NewBranch {
    /// Begins a branch. Fails if git allows no such name, or if the branch is there already.
    pub fn begin(repository: &Repository, name: &str) -> Result<Self, WorkspaceError> {
        let git = repository.git();
        let checked = git.try_run(&["check-ref-format", "--branch", name], b"")?;
        let printed = String::from_utf8_lossy(&checked.stdout);
        if !checked.status.success() || printed.trim_end() != name || name.starts_with('-') {
            let name = name.to_owned();
            return Err(WorkspaceError::NoBranchName { name });
        }
        if repository
            .commit_of(&format!("refs/heads/{name}"))?
            .is_some()
        {
            let name = name.to_owned();
            return Err(WorkspaceError::BranchTaken { name });
        }
        Ok(Self {
            drivers: Drivers::of(repository)?,
            tip: repository.demand_head()?,
            repository: repository.clone(),
            name: name.to_owned(),
        })
    }

    /// Adds a change as a commit of the user.
    pub fn add(&mut self, change: &Change, message: &str) -> Result<AddedCommit, WorkspaceError> {
        let mut merged = merge_tree(&self.repository, change.onto(&self.tip))?;
        let conflicts = &mut merged.conflicts;
        self.drivers
            .add_of_change(&self.repository, conflicts, change, &self.tip)?;
        if !merged.conflicts.is_empty() {
            return Ok(AddedCommit::Conflicts(merged.conflicts));
        }
        if merged.tree == self.repository.tree_of(&self.tip)? {
            return Ok(AddedCommit::Nothing);
        }
        let commit = self
            .repository
            .commit_tree_as_user(&merged.tree, &self.tip, message)?;
        self.tip = commit.clone();
        Ok(AddedCommit::Commit(commit))
    }

    /// Writes the branch.
    pub fn finish(self) -> Result<(), WorkspaceError> {
        let name = format!("refs/heads/{}", self.name);
        let none = "0".repeat(self.tip.as_str().len());
        let reason = ["update-ref", "-m", "made by pi-subagents"];
        let arguments = [&reason[..], &[&name, self.tip.as_str(), &none]].concat();
        self.repository.git().run(&arguments)?;
        Ok(())
    }
}
