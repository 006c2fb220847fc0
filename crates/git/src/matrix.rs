//! Finds out which results can be merged into a checkout as it is now, and which of them with each
//! other.
//!
//! Changes of different files fit each other, so only those that meet are merged to see what comes
//! of it, all of them by one process.

use crate::drivers::Drivers;
use crate::error::WorkspaceError;
use crate::merge_tree::{Conflict, Merged, Wished, merge_trees};
use crate::narrow_commits::{Narrow, unfolded};
use crate::object_id::ObjectId;
use crate::overwritten_files::conflicts_in_the_way;
use crate::quarantine::Quarantine;
use crate::repository::Repository;
use crate::snapshot::Snapshot;
use crate::touched_paths::Touched;

/// With fewer pairs, to make stand-ins for their changes takes longer than to merge the changes.
const FEWEST_PAIRS: usize = 4;

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
    /// For each change, its conflicts with the checkout. Lines are those of the checkout's file.
    pub checkout: Vec<Vec<Conflict>>,
    /// For each change, its conflicts with each other change; empty for the change itself. Lines
    /// are those of the file as the change of the row has it.
    pub pairs: Vec<Vec<Vec<Conflict>>>,
}

impl Matrix {
    /// Compares changes with a checkout, with its uncommitted changes, and with each other. Nothing
    /// is added to the repository.
    pub fn of(repository: &Repository, changes: &[Change]) -> Result<Self, WorkspaceError> {
        let (_quarantine, repository) = Quarantine::of(repository)?;
        let sides = Sides::of(&repository, changes)?;
        let pairs = sides.pairs_to_merge();
        let rows = sides.merge_rows(&pairs)?;
        let found = sides.merge_pairs(&pairs, &rows)?;
        let mut matrix = Self {
            checkout: conflicts_of(rows),
            pairs: square(changes.len(), &pairs, found),
        };
        matrix.add_driven(&sides)?;
        matrix.add_blocking(&sides);
        Ok(matrix)
    }

    /// Compares changes with a checkout alone, as it is now.
    pub fn with_checkout(
        repository: &Repository,
        changes: &[Change],
    ) -> Result<Vec<Vec<Conflict>>, WorkspaceError> {
        let (_quarantine, repository) = Quarantine::of(repository)?;
        let sides = Sides::of(&repository, changes)?;
        let mut matrix = Self {
            checkout: conflicts_of(sides.merge_rows(&[])?),
            pairs: square(changes.len(), &[], Vec::new()),
        };
        matrix.add_driven(&sides)?;
        matrix.add_blocking(&sides);
        Ok(matrix.checkout)
    }

    /// Adds what a merge driver of the user would decide.
    fn add_driven(&mut self, sides: &Sides<'_>) -> Result<(), WorkspaceError> {
        let drivers = Drivers::of(sides.repository)?;
        for (row, conflicts) in self.checkout.iter_mut().enumerate() {
            let (ours, theirs) = (&sides.checkout[row], &sides.touched[row]);
            drivers.add_driven(sides.repository, conflicts, ours, theirs)?;
        }
        for (row, ours) in sides.touched.iter().enumerate() {
            for (column, theirs) in sides.touched.iter().enumerate() {
                if row != column {
                    let conflicts = &mut self.pairs[row][column];
                    drivers.add_driven(sides.repository, conflicts, ours, theirs)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the files of the checkout that git does not keep and a change would overwrite.
    fn add_blocking(&mut self, sides: &Sides<'_>) {
        let top = sides.repository.top();
        let both = sides.touched.iter().zip(&sides.checkout);
        for (conflicts, (change, since)) in self.checkout.iter_mut().zip(both) {
            conflicts.extend(conflicts_in_the_way(top, change, since));
        }
    }

    /// Returns whether each change can be merged into the checkout, one after the other.
    pub fn is_clean(&self) -> bool {
        let pairs = self.pairs.iter().flatten();
        self.checkout.iter().chain(pairs).all(Vec::is_empty)
    }
}

/// Changes, with the paths that they and the checkout touch.
struct Sides<'a> {
    repository: &'a Repository,
    changes: &'a [Change],
    /// The checkout as it is now.
    now: ObjectId,
    /// For each change, the paths that it touches.
    touched: Vec<Touched>,
    /// For each change, the paths that the checkout has touched since the base of the change.
    checkout: Vec<Touched>,
}

/// Two changes that must be merged to be compared, by their places.
struct Pair {
    row: usize,
    column: usize,
    meet: Meet,
}

/// The place where two changes meet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meet {
    /// On their common base. The checkout has touched nothing that either of them touches.
    Base,
    /// In the checkout, which each of them changes.
    Checkout,
}

impl Pair {
    /// Returns the merge of the stand-ins for both changes, if there are any.
    fn in_place_of(&self, narrow: &Narrow) -> Option<Wished> {
        let of = |place| narrow.results.get(place).cloned();
        (self.meet == Meet::Base).then_some(())?;
        Some(Wished {
            base: Some(narrow.base.clone()),
            ours: of(&self.row)?,
            theirs: of(&self.column)?,
        })
    }
}

impl<'a> Sides<'a> {
    fn of(repository: &'a Repository, changes: &'a [Change]) -> Result<Self, WorkspaceError> {
        let now = Snapshot::take(repository)?.commit;
        let own = changes.iter().map(|change| (&change.base, &change.result));
        let since = changes.iter().map(|change| (&change.base, &now));
        let wished: Vec<_> = own.chain(since).collect();
        let mut touched = Touched::between(repository, &wished)?;
        let checkout = touched.split_off(changes.len());
        Ok(Self {
            repository,
            changes,
            now,
            touched,
            checkout,
        })
    }

    /// Returns whether the checkout has touched nothing that a change touches.
    fn is_apart(&self, row: usize) -> bool {
        self.touched[row].is_apart_from(&self.checkout[row])
    }

    /// Lists the pairs of changes that meet somewhere.
    fn pairs_to_merge(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for row in 0..self.changes.len() {
            for column in row + 1..self.changes.len() {
                let meet = self.meet(row, column);
                pairs.extend(meet.map(|meet| Pair { row, column, meet }));
            }
        }
        pairs
    }

    fn meet(&self, row: usize, column: usize) -> Option<Meet> {
        let is_base = self.changes[row].base == self.changes[column].base;
        if !self.is_apart(row) || !self.is_apart(column) {
            Some(Meet::Checkout)
        } else if self.touched[row].is_apart_from(&self.touched[column]) {
            None
        } else if is_base {
            Some(Meet::Base)
        } else {
            Some(Meet::Checkout)
        }
    }

    /// Merges the changes that meet the checkout, and those that must be in it to be compared.
    fn merge_rows(&self, pairs: &[Pair]) -> Result<Vec<Option<Merged>>, WorkspaceError> {
        let is_needed = |row: usize| {
            let needs = |pair: &Pair| {
                pair.meet == Meet::Checkout && (pair.row == row || pair.column == row)
            };
            !self.is_apart(row) || pairs.iter().any(needs)
        };
        let needed: Vec<bool> = (0..self.changes.len()).map(is_needed).collect();
        let with = self.changes.iter().zip(&needed);
        let with = with.filter(|(_, is_needed)| **is_needed);
        let wished: Vec<Wished> = with.map(|(change, _)| change.onto(&self.now)).collect();
        let mut merged = merge_trees(self.repository, &wished)?.into_iter();
        let rows = needed.into_iter();
        let rows = rows.map(|is_needed| is_needed.then(|| merged.next()).flatten());
        Ok(rows.collect())
    }

    fn merge_pairs(
        &self,
        pairs: &[Pair],
        rows: &[Option<Merged>],
    ) -> Result<Vec<Merged>, WorkspaceError> {
        let commits = self.commits(rows)?;
        let narrow = self.narrow(pairs)?;
        let stand_in = |pair: &Pair| narrow.as_ref().and_then(|narrow| pair.in_place_of(narrow));
        let wished = pairs.iter().map(|pair| {
            if let Some(stand_in) = stand_in(pair) {
                return stand_in;
            }
            let (one, other) = (&self.changes[pair.row], &self.changes[pair.column]);
            match (pair.meet, &commits[pair.row], &commits[pair.column]) {
                (Meet::Checkout, Some(one), Some(other)) => Wished {
                    base: Some(self.now.clone()),
                    ours: one.clone(),
                    theirs: other.clone(),
                },
                // A change that does not fit the checkout is compared as it is.
                (Meet::Checkout | Meet::Base, _, _) => Wished {
                    base: (one.base == other.base).then(|| one.base.clone()),
                    ours: one.result.clone(),
                    theirs: other.result.clone(),
                },
            }
        });
        let mut found = merge_trees(self.repository, &wished.collect::<Vec<_>>())?;
        let stood_in = pairs.iter().map(|pair| stand_in(pair).is_some());
        for (merged, _) in found.iter_mut().zip(stood_in).filter(|(_, is)| *is) {
            for conflict in &mut merged.conflicts {
                conflict.path = unfolded(&conflict.path);
            }
        }
        Ok(found)
    }

    /// Makes stand-ins for the changes that meet on the base of the first pair, if many pairs do.
    fn narrow(&self, pairs: &[Pair]) -> Result<Option<Narrow>, WorkspaceError> {
        let at_base = pairs.iter().filter(|pair| pair.meet == Meet::Base);
        let at_base: Vec<&Pair> = at_base.collect();
        let Some(base) = at_base.first().map(|pair| &self.changes[pair.row].base) else {
            return Ok(None);
        };
        let with_base = at_base
            .iter()
            .filter(|pair| self.changes[pair.row].base == *base);
        let places = with_base.flat_map(|pair| [pair.row, pair.column]);
        let places = places.filter(|place| !self.touched[*place].has_removed);
        let places: Vec<usize> = places.collect();
        if places.len() < 2 * FEWEST_PAIRS {
            return Ok(None);
        }
        let touched = places
            .into_iter()
            .map(|place| (place, &self.touched[place]));
        Narrow::of(self.repository, base, &touched.collect())
    }

    /// Makes a commit of the checkout with each change that was merged and fits.
    fn commits(&self, rows: &[Option<Merged>]) -> Result<Vec<Option<ObjectId>>, WorkspaceError> {
        let fits = |row: &Option<Merged>| {
            let row = row.as_ref().filter(|row| row.conflicts.is_empty());
            row.map(|row| row.tree.clone())
        };
        let trees: Vec<Option<ObjectId>> = rows.iter().map(fits).collect();
        let known: Vec<&ObjectId> = trees.iter().flatten().collect();
        let mut made = self.repository.commit_trees(&known, &self.now)?.into_iter();
        let commits = trees.iter();
        let commits = commits.map(|tree| tree.as_ref().and_then(|_| made.next()));
        Ok(commits.collect())
    }
}

/// Returns the conflicts of each row; a row that was not merged has none.
fn conflicts_of(rows: Vec<Option<Merged>>) -> Vec<Vec<Conflict>> {
    let rows = rows.into_iter();
    rows.map(|row| row.map(|row| row.conflicts).unwrap_or_default())
        .collect()
}

/// Lays the pairs out as a square, each as both of its sides see it.
fn square(size: usize, pairs: &[Pair], found: Vec<Merged>) -> Vec<Vec<Vec<Conflict>>> {
    let mut square = vec![vec![Vec::new(); size]; size];
    for (Pair { row, column, .. }, one) in pairs.iter().zip(found) {
        let turned = one.conflicts.iter().map(Conflict::turned);
        square[*column][*row] = turned.collect();
        square[*row][*column] = one.conflicts;
    }
    square
}
