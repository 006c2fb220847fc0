//! Brings the changes of runs into a checkout, together with the uncommitted changes of its user.
//!
//! The checkout as it is becomes a snapshot, the change is merged with that, and the difference is
//! written. Each change is merged whole or not at all. Nothing is checked out, stashed or reset.

use std::path::PathBuf;

use crate::changes::{ChangedFile, changes};
use crate::drivers::Drivers;
use crate::error::WorkspaceError;
use crate::git::failed;
use crate::in_the_way::in_the_way;
use crate::index_copy::IndexCopy;
use crate::matrix::Change;
use crate::merge_tree::{Conflict, Merged, Wished, merge_tree};
use crate::object_id::ObjectId;
use crate::quarantine::Quarantine;
use crate::repository::Repository;
use crate::snapshot::{LARGEST_UNTRACKED, Rules, Snapshot, Unmerged};
use crate::touched::Touched;

/// A merge into a checkout. While it lives, no other merge of ours changes the repository.
#[derive(Debug)]
pub struct Merge {
    _quarantine: Quarantine,
    /// The repository, as its objects are kept.
    repository: Repository,
    /// The repository, as its objects are forgotten.
    passing: Repository,
    /// The index of the snapshot, which knows every file.
    index: IndexCopy,
    /// The checkout as it is now.
    now: ObjectId,
    /// The merge drivers of the user. None of them is run.
    drivers: Drivers,
}

/// The outcome of merging one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The files were written.
    Merged {
        /// The files.
        files: Vec<ChangedFile>,
        /// The commit, if one was asked for.
        commit: Option<ObjectId>,
    },
    /// The checkout has everything already.
    Nothing,
    /// The change and the checkout cannot both be. Nothing was written.
    Conflicts(Vec<Conflict>),
    /// The change fits the files, but not the last commit, so it could not be a commit of its own.
    /// Nothing was written.
    NeedsUncommitted(Vec<Conflict>),
    /// Files that are not part of the checkout would be overwritten. Nothing was written.
    InTheWay(Vec<PathBuf>),
    /// A file changed while it was merged. Nothing was written.
    ChangedMeanwhile(String),
}

impl Merge {
    /// Looks at a checkout before something is merged.
    pub fn begin(repository: &Repository) -> Result<Self, WorkspaceError> {
        let repository = repository.locked()?;
        let (quarantine, passing) = Quarantine::of(&repository)?;
        let rules = Rules {
            unmerged: Unmerged::Refused,
            largest_untracked: Some(LARGEST_UNTRACKED),
            message: "the checkout before the merge",
        };
        let (snapshot, index) = Snapshot::with(&passing, IndexCopy::of(&repository)?, rules)?;
        Ok(Self {
            drivers: Drivers::of(&repository)?,
            _quarantine: quarantine,
            repository,
            passing,
            index,
            now: snapshot.commit,
        })
    }

    /// Merges a change as uncommitted changes.
    pub fn apply(&mut self, change: &Change) -> Result<Outcome, WorkspaceError> {
        let merged = self.try_onto_checkout(change)?;
        if !merged.conflicts.is_empty() {
            return Ok(Outcome::Conflicts(merged.conflicts));
        }
        let files = changes(&self.passing, &self.now, &merged.tree)?;
        if files.is_empty() {
            return Ok(Outcome::Nothing);
        }
        let blocking = in_the_way(&self.passing, &self.now, &merged.tree)?;
        if !blocking.is_empty() {
            return Ok(Outcome::InTheWay(blocking));
        }
        if let Some(outcome) = self.write(&merged.tree)? {
            return Ok(outcome);
        }
        let parents = [&self.now.clone()];
        self.now = self
            .passing
            .commit_tree(&merged.tree, &parents, "merged", Some("@0 +0000"))?;
        let commit = None;
        Ok(Outcome::Merged { files, commit })
    }

    /// Merges a change with the checkout as it is now, and writes no file.
    fn try_onto_checkout(&self, change: &Change) -> Result<Merged, WorkspaceError> {
        let mut merged = merge_tree(&self.passing, change.onto(&self.now))?;
        self.add_driven(change, &mut merged.conflicts)?;
        Ok(merged)
    }

    /// Adds what a merge driver of the user would decide.
    fn add_driven(
        &self,
        change: &Change,
        conflicts: &mut Vec<Conflict>,
    ) -> Result<(), WorkspaceError> {
        if self.drivers.is_empty() {
            return Ok(());
        }
        let Change { base, result } = change;
        let touched = Touched::between(&self.passing, &[(base, &self.now), (base, result)])?;
        let [ours, theirs] = touched.as_slice() else {
            return Ok(());
        };
        self.drivers
            .add_driven(&self.passing, conflicts, ours, theirs)
    }

    /// Merges a change as a commit on top of the checked-out one. The user's uncommitted changes
    /// are not in the commit, and stay as they are.
    pub fn commit(&mut self, change: &Change, message: &str) -> Result<Outcome, WorkspaceError> {
        let repository = self.repository.clone();
        let head = repository.demand_head()?;
        let committed = merge_tree(&repository, change.onto(&head))?;
        if !committed.conflicts.is_empty() {
            // A change that builds on uncommitted work fits the checkout, and only HEAD lacks it.
            let with_checkout = self.try_onto_checkout(change)?.conflicts;
            return Ok(if with_checkout.is_empty() {
                Outcome::NeedsUncommitted(committed.conflicts)
            } else {
                Outcome::Conflicts(with_checkout)
            });
        }
        if committed.tree == repository.tree_of(&head)? {
            return Ok(Outcome::Nothing);
        }
        let commit = repository.commit_tree_as_user(&committed.tree, &head, message)?;
        let staged = IndexCopy::of(&repository)?
            .git(&repository)
            .id(&["write-tree"])?;
        let staged_commit =
            repository.commit_tree(&staged, &[&head], "staged", Some("@0 +0000"))?;
        let delta = Change {
            base: head.clone(),
            result: commit.clone(),
        };
        let restaged = merge_tree(&repository, delta.onto(&staged_commit))?;
        if !restaged.conflicts.is_empty() {
            return Ok(Outcome::NeedsUncommitted(restaged.conflicts));
        }
        let files = match self.apply(change)? {
            Outcome::Merged { files, .. } => files,
            // The files have it already, and only the commit was missing.
            Outcome::Nothing => Vec::new(),
            other => return Ok(other),
        };
        let git = repository.git();
        // The files have been written already, so the index is not compared with them.
        let arguments = [
            "read-tree",
            "-i",
            "-m",
            staged.as_str(),
            restaged.tree.as_str(),
        ];
        git.run(&arguments)?;
        let reason = ["update-ref", "-m", "merged by pi-subagents", "HEAD"];
        git.run(&[&reason[..], &[commit.as_str(), head.as_str()]].concat())?;
        let commit = Some(commit);
        Ok(Outcome::Merged { files, commit })
    }

    /// Writes the difference between the checkout and a tree. Git compares each file with the
    /// snapshot before it writes the first one.
    fn write(&self, tree: &ObjectId) -> Result<Option<Outcome>, WorkspaceError> {
        let now = self.now.as_str();
        let arguments = ["read-tree", "-m", "-u", now, tree.as_str()];
        let ended = self.index.git(&self.passing).try_run(&arguments, b"")?;
        if ended.status.success() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        match changed_file(&said) {
            Some(file) => Ok(Some(Outcome::ChangedMeanwhile(file.to_owned()))),
            None => Err(failed(&arguments, &ended).into()),
        }
    }
}

impl Change {
    /// Returns the merge that brings this change to a state.
    pub(crate) fn onto(&self, state: &ObjectId) -> Wished {
        Wished {
            base: Some(self.base.clone()),
            ours: state.clone(),
            theirs: self.result.clone(),
        }
    }
}

/// Returns the file that git found changed, from `error: Entry 'a.txt' not uptodate. Cannot merge.`
fn changed_file(said: &str) -> Option<&str> {
    let line = said.lines().find(|line| line.contains("not uptodate"))?;
    let (_, after) = line.split_once('\'')?;
    after.rsplit_once('\'').map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_file_is_found_in_what_git_says() {
        let said = "error: Entry 'it's.txt' not uptodate. Cannot merge.\n";
        assert_eq!(changed_file(said), Some("it's.txt"));
        assert_eq!(changed_file("fatal: unable to write"), None);
    }
}
