//! Brings the state of a checkout into the worktree of a run, with conflict markers where both have
//! changed the same: whoever works there can resolve them, and the checkout is not touched.

use std::path::PathBuf;

use crate::checkout_writer::{CheckoutWriter, MergeFolder, Watcher, Written, recover};
use crate::error::WorkspaceError;
use crate::index_copy::IndexCopy;
use crate::matrix::Change;
use crate::merge_tree::{Conflict, Wished, merge_tree};
use crate::object_id::ObjectId;
use crate::overwritten_files::in_the_way;
use crate::repository::{Repository, entries, path};
use crate::snapshot::{Rules, Snapshot, Unmerged};

/// A state that was brought into a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// The worktree as it was before.
    pub ours: ObjectId,
    /// The places that both have changed.
    pub conflicts: Vec<Conflict>,
}

/// Merges a state into the files of a worktree. `base` is what the worktree began from. The caller
/// holds the lock of the repository.
pub fn bring_into(
    worktree: &Repository,
    base: &ObjectId,
    state: &ObjectId,
) -> Result<Brought, WorkspaceError> {
    let rules = Rules {
        unmerged: Unmerged::Recorded,
        largest_untracked: None,
        message: "the worktree before the checkout was merged into it",
    };
    // The worktree may be on another disk than the repository, whose lock was taken before.
    recover(worktree);
    let folder = MergeFolder::new(worktree)?;
    let (snapshot, index) = Snapshot::with(worktree, IndexCopy::of(worktree)?, rules)?;
    let ours = snapshot.commit;
    let merged = merge_tree(
        worktree,
        Wished {
            base: Some(base.clone()),
            ours: ours.clone(),
            theirs: state.clone(),
        },
    )?;
    let blocking = in_the_way(worktree, &ours, &merged.tree)?;
    if let Some(path) = blocking.into_iter().next() {
        let source = std::io::Error::other("git does not keep this file, and it is in the way");
        return Err(WorkspaceError::File { path, source });
    }
    let writer = CheckoutWriter {
        repository: worktree,
        folder: &folder,
        index: &index,
        mark: None,
        watcher: &Watcher::default(),
    };
    if let Written::Changed { path, .. } = writer.write(&ours, &merged.tree)? {
        let source = std::io::Error::other("it changed while the checkout was merged into it");
        return Err(WorkspaceError::File { path, source });
    }
    let conflicts = merged.conflicts;
    Ok(Brought { ours, conflicts })
}

/// Names the changed files of a run that still have the markers of conflicts with its base, as git
/// writes them: with the names of commits.
pub fn marked_files(
    repository: &Repository,
    change: &Change,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    let Change { base, result } = change;
    let markers = format!("-G^(<<<<<<< [0-9a-f]{{40,64}}|>>>>>>> {base})$");
    let printed = repository.git().run(&[
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "--diff-filter=d",
        "--name-only",
        "-z",
        &markers,
        base.as_str(),
        result.as_str(),
        "--",
    ])?;
    let names = entries(&printed).map(|name| path(name).to_owned());
    Ok(names.collect())
}
