//! Finds out which results can be merged into a checkout as it is now, and which of them with each
//! other.

use crate::drivers::{Drivers, add_driven};
use crate::error::WorkspaceError;
use crate::merge_tree::{Conflict, Merged, Wished, merge_trees};
use crate::object_id::ObjectId;
use crate::quarantine::Quarantine;
use crate::repository::Repository;
use crate::snapshot::Snapshot;

/// The change of one run: from a base to a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The state that the run began from.
    pub base: ObjectId,
    /// The state that the run left.
    pub result: ObjectId,
}

/// The conflicts between changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// For each change, its conflicts with the checkout.
    pub checkout: Vec<Vec<Conflict>>,
    /// For each change, its conflicts with each other change; empty for the change itself.
    pub pairs: Vec<Vec<Vec<Conflict>>>,
}

impl Matrix {
    /// Compares changes with a checkout, with its uncommitted changes, and with each other. Nothing
    /// is added to the repository.
    pub fn of(repository: &Repository, changes: &[Change]) -> Result<Self, WorkspaceError> {
        let (_quarantine, repository) = Quarantine::of(repository)?;
        let now = Snapshot::take(&repository)?.commit;
        let rows = merge_trees(&repository, &rows(&now, changes))?;
        let merged = commits(&repository, &now, &rows)?;
        let wished = pairs(&now, changes, &merged);
        let found = merge_trees(&repository, &wished)?;
        let mut matrix = Self {
            checkout: rows.into_iter().map(|row| row.conflicts).collect(),
            pairs: mirrored(changes.len(), found),
        };
        matrix.add_driven(&repository, &now, changes)?;
        Ok(matrix)
    }

    /// Compares changes with a checkout alone, as it is now.
    pub fn with_checkout(
        repository: &Repository,
        changes: &[Change],
    ) -> Result<Vec<Vec<Conflict>>, WorkspaceError> {
        let (_quarantine, repository) = Quarantine::of(repository)?;
        let now = Snapshot::take(&repository)?.commit;
        let rows = merge_trees(&repository, &rows(&now, changes))?;
        let mut matrix = Self {
            checkout: rows.into_iter().map(|row| row.conflicts).collect(),
            pairs: vec![vec![Vec::new(); changes.len()]; changes.len()],
        };
        matrix.add_driven(&repository, &now, changes)?;
        Ok(matrix.checkout)
    }

    /// Adds what a merge driver of the user would decide.
    fn add_driven(
        &mut self,
        repository: &Repository,
        now: &ObjectId,
        changes: &[Change],
    ) -> Result<(), WorkspaceError> {
        let drivers = Drivers::of(repository)?;
        let mut driven = Vec::new();
        for (change, conflicts) in changes.iter().zip(&mut self.checkout) {
            let theirs = drivers.changed(repository, &change.base, &change.result)?;
            if !theirs.is_empty() {
                let ours = drivers.changed(repository, &change.base, now)?;
                add_driven(conflicts, &ours, &theirs);
            }
            driven.push(theirs);
        }
        for (row, ours) in driven.iter().enumerate() {
            for (column, theirs) in driven.iter().enumerate() {
                if row != column {
                    add_driven(&mut self.pairs[row][column], ours, theirs);
                }
            }
        }
        Ok(())
    }

    /// Returns whether each change can be merged into the checkout, one after the other.
    pub fn is_clean(&self) -> bool {
        let pairs = self.pairs.iter().flatten();
        self.checkout.iter().chain(pairs).all(Vec::is_empty)
    }
}

fn rows(now: &ObjectId, changes: &[Change]) -> Vec<Wished> {
    let wished = changes.iter().map(|change| Wished {
        base: Some(change.base.clone()),
        ours: now.clone(),
        theirs: change.result.clone(),
    });
    wished.collect()
}

/// Makes a commit of the checkout with each change that fits.
fn commits(
    repository: &Repository,
    now: &ObjectId,
    rows: &[Merged],
) -> Result<Vec<Option<ObjectId>>, WorkspaceError> {
    let fitting = rows.iter().filter(|row| row.conflicts.is_empty());
    let trees: Vec<&ObjectId> = fitting.map(|row| &row.tree).collect();
    let mut made = repository.commit_trees(&trees, now)?.into_iter();
    let commits = rows.iter().map(|row| {
        let fits = row.conflicts.is_empty();
        fits.then(|| made.next()).flatten()
    });
    Ok(commits.collect())
}

/// Lists the merges of all pairs. Two changes that fit the checkout are compared as they are in it;
/// otherwise their results are compared.
fn pairs(now: &ObjectId, changes: &[Change], merged: &[Option<ObjectId>]) -> Vec<Wished> {
    let mut wished = Vec::new();
    for (row, one) in changes.iter().enumerate() {
        for (column, other) in changes.iter().enumerate().skip(row + 1) {
            wished.push(match (&merged[row], &merged[column]) {
                (Some(one), Some(other)) => Wished {
                    base: Some(now.clone()),
                    ours: one.clone(),
                    theirs: other.clone(),
                },
                (Some(_) | None, _) => Wished {
                    base: (one.base == other.base).then(|| one.base.clone()),
                    ours: one.result.clone(),
                    theirs: other.result.clone(),
                },
            });
        }
    }
    wished
}

/// Lays the pairs out as a square.
fn mirrored(size: usize, found: Vec<Merged>) -> Vec<Vec<Vec<Conflict>>> {
    let mut square = vec![vec![Vec::new(); size]; size];
    let pairs = (0..size).flat_map(|row| (row + 1..size).map(move |column| (row, column)));
    for ((row, column), one) in pairs.zip(found) {
        square[row][column].clone_from(&one.conflicts);
        square[column][row] = one.conflicts;
    }
    square
}
