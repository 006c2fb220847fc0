//! Brings the changes of runs into a checkout, together with the uncommitted changes of its user.
//!
//! The checkout as it is becomes a snapshot, the change is merged with that, and the difference is
//! written (`checkout_writer`). Each change is merged whole or not at all, also if this process is
//! killed or somebody saves a file meanwhile. Nothing is checked out, stashed or reset.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::changes::{FileChange, changes};
use crate::checkout_writer::{CheckoutWriter, LateSave, MergeFolder, Recovered, Watcher, Written};
use crate::drivers::Drivers;
use crate::error::WorkspaceError;
use crate::git::words;
use crate::index_copy::IndexCopy;
use crate::matrix::Change;
use crate::merge_tree::{Conflict, Merged, Wished, merge_tree};
use crate::object_id::ObjectId;
use crate::overwritten_files::in_the_way;
use crate::quarantine::quarantined;
use crate::repository::Repository;
use crate::snapshot::{LARGEST_UNTRACKED, Rules, Snapshot, Unmerged};

/// A change is merged at most so many times with a checkout that somebody changes meanwhile.
const MOST_ROUNDS: usize = 3;

/// A merge into a checkout. While it lives, no other merge of ours changes the repository.
#[derive(Debug)]
pub struct Merge {
    /// The folder of this merge. It goes before the lock of the repository does.
    folder: MergeFolder,
    watcher: Watcher,
    late_saves: Vec<LateSave>,
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
pub enum ChangeOutcome {
    /// The files were written.
    Merged {
        /// The files.
        files: Vec<FileChange>,
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
        Self::with(repository, Watcher::default())
    }

    /// Does the same, and calls a function before each step of a write. A test ends this process
    /// there.
    #[doc(hidden)]
    pub fn watched(
        repository: &Repository,
        watch: Arc<dyn Fn(&'static str) + Send + Sync>,
    ) -> Result<Self, WorkspaceError> {
        Self::with(repository, Watcher::new(watch))
    }

    fn with(repository: &Repository, watcher: Watcher) -> Result<Self, WorkspaceError> {
        let repository = repository.locked()?;
        let folder = MergeFolder::new(&repository)?;
        let passing = quarantined(&repository, &folder.objects());
        let (now, index) = look(&repository, &passing)?;
        Ok(Self {
            folder,
            watcher,
            late_saves: Vec::new(),
            drivers: Drivers::of(&repository)?,
            repository,
            passing,
            index,
            now,
        })
    }

    /// Returns the writes of processes that were killed, which this merge has finished or taken
    /// back when it began.
    pub fn recovered(&self) -> &[Recovered] {
        self.repository.recovered()
    }

    /// Returns the files that somebody saved into their old version while they were written.
    pub fn late_saves(&self) -> &[LateSave] {
        &self.late_saves
    }

    /// Merges a change as uncommitted changes. If somebody changes a file meanwhile, it is merged
    /// with that.
    pub fn apply(&mut self, change: &Change) -> Result<ChangeOutcome, WorkspaceError> {
        for _ in 1..MOST_ROUNDS {
            match self.apply_once(change)? {
                ChangeOutcome::ChangedMeanwhile(_) => {
                    (self.now, self.index) = look(&self.repository, &self.passing)?;
                }
                outcome => return Ok(outcome),
            }
        }
        self.apply_once(change)
    }

    fn apply_once(&mut self, change: &Change) -> Result<ChangeOutcome, WorkspaceError> {
        let merged = self.try_onto_checkout(change)?;
        if !merged.conflicts.is_empty() {
            return Ok(ChangeOutcome::Conflicts(merged.conflicts));
        }
        let files = changes(&self.passing, &self.now, &merged.tree)?;
        if files.is_empty() {
            return Ok(ChangeOutcome::Nothing);
        }
        let blocking = in_the_way(&self.passing, &self.now, &merged.tree)?;
        if !blocking.is_empty() {
            return Ok(ChangeOutcome::InTheWay(blocking));
        }
        if let Some(outcome) = self.write(&merged.tree)? {
            return Ok(outcome);
        }
        let parents = [&self.now.clone()];
        self.now = self
            .passing
            .commit_tree(&merged.tree, &parents, "merged", Some("@0 +0000"))?;
        let commit = None;
        Ok(ChangeOutcome::Merged { files, commit })
    }

    /// Merges a change with the checkout as it is now, and writes no file.
    fn try_onto_checkout(&self, change: &Change) -> Result<Merged, WorkspaceError> {
        let mut merged = merge_tree(&self.passing, change.onto(&self.now))?;
        let conflicts = &mut merged.conflicts;
        self.drivers
            .add_of_change(&self.passing, conflicts, change, &self.now)?;
        Ok(merged)
    }

    /// Merges a change as a commit on top of the checked-out one. The user's uncommitted changes
    /// are not in the commit, and stay as they are.
    pub fn commit(
        &mut self,
        change: &Change,
        message: &str,
    ) -> Result<ChangeOutcome, WorkspaceError> {
        let repository = self.repository.clone();
        let head = repository.demand_head()?;
        let committed = merge_tree(&repository, change.onto(&head))?;
        if !committed.conflicts.is_empty() {
            // A change that builds on uncommitted work fits the checkout, and only HEAD lacks it.
            let with_checkout = self.try_onto_checkout(change)?.conflicts;
            return Ok(if with_checkout.is_empty() {
                ChangeOutcome::NeedsUncommitted(committed.conflicts)
            } else {
                ChangeOutcome::Conflicts(with_checkout)
            });
        }
        if committed.tree == repository.tree_of(&head)? {
            return Ok(ChangeOutcome::Nothing);
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
            return Ok(ChangeOutcome::NeedsUncommitted(restaged.conflicts));
        }
        let files = match self.apply(change)? {
            ChangeOutcome::Merged { files, .. } => files,
            // The files have it already, and only the commit was missing.
            ChangeOutcome::Nothing => Vec::new(),
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
        Ok(ChangeOutcome::Merged { files, commit })
    }

    /// Refuses a file that is not in its place because the checkout is sparse.
    fn refuse_sparse(&self, path: &Path) -> Result<(), WorkspaceError> {
        let git = self.repository.git().clone();
        let git = git.with_variable("GIT_LITERAL_PATHSPECS", "1");
        let arguments = words(&["ls-files", "-t", "-z", "--"]);
        let printed = git.run(&[&arguments[..], &[path.as_os_str()]].concat())?;
        if printed.starts_with(b"S ") {
            let path = path.to_owned();
            return Err(WorkspaceError::Sparse { path });
        }
        Ok(())
    }

    /// Writes the difference between the checkout and a tree.
    fn write(&mut self, tree: &ObjectId) -> Result<Option<ChangeOutcome>, WorkspaceError> {
        let writer = CheckoutWriter {
            repository: &self.passing,
            folder: &self.folder,
            index: &self.index,
            mark: None,
            watcher: &self.watcher,
        };
        match writer.write(&self.now, tree)? {
            Written::Changed { path, late } => {
                self.late_saves.extend(late);
                self.refuse_sparse(&path)?;
                let path = path.display().to_string();
                return Ok(Some(ChangeOutcome::ChangedMeanwhile(path)));
            }
            Written::Whole(late) => self.late_saves.extend(late),
        }
        self.index.follow(&self.passing, &self.now, tree)?;
        Ok(None)
    }
}

/// Takes a snapshot of the checkout as it is now, with an index that knows every file of it.
pub(crate) fn look(
    repository: &Repository,
    passing: &Repository,
) -> Result<(ObjectId, IndexCopy), WorkspaceError> {
    let rules = Rules {
        unmerged: Unmerged::Refused,
        largest_untracked: Some(LARGEST_UNTRACKED),
        message: "the checkout before the merge",
    };
    let (snapshot, index) = Snapshot::with(passing, IndexCopy::of(repository)?, rules)?;
    Ok((snapshot.commit, index))
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
