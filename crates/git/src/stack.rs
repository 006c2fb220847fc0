//! Changes on top of each other, as commits: what a checkout would be if it had them. No file is
//! written and no branch moved.

use crate::drivers::Drivers;
use crate::error::WorkspaceError;
use crate::matrix::Change;
use crate::merge_tree::{Conflict, merge_tree};
use crate::object_id::ObjectId;
use crate::repository::Repository;

/// Puts changes on top of states.
#[derive(Debug)]
pub struct Stack {
    repository: Repository,
    drivers: Drivers,
}

/// The outcome of putting a change on a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stacked {
    /// The state with the change.
    State(ObjectId),
    /// Both cannot be.
    Conflicts(Vec<Conflict>),
}

impl Stack {
    /// Looks at a repository. The commits that are made are kept by nothing but their pins.
    pub fn of(repository: &Repository) -> Result<Self, WorkspaceError> {
        Ok(Self {
            drivers: Drivers::of(repository)?,
            repository: repository.clone(),
        })
    }

    /// Puts a change on a state.
    pub fn put(&self, change: &Change, state: &ObjectId) -> Result<Stacked, WorkspaceError> {
        let mut merged = merge_tree(&self.repository, change.onto(state))?;
        let conflicts = &mut merged.conflicts;
        self.drivers
            .add_of_change(&self.repository, conflicts, change, state)?;
        if !merged.conflicts.is_empty() {
            return Ok(Stacked::Conflicts(merged.conflicts));
        }
        let made =
            self.repository
                .commit_tree(&merged.tree, &[state], "rehearsed", Some("@0 +0000"));
        made.map(Stacked::State)
    }
}
