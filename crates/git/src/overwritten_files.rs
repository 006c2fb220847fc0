//! Files that a merge would overwrite without a word: git does so with files that are ignored.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::merge_tree::Conflict;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};
use crate::touched_paths::Touched;

/// The kind of a conflict with a file that git does not keep.
const IN_THE_WAY: &str = "in the way";

/// The largest number of files that are named.
const MOST_NAMED: usize = 10;

/// Directories inside each other beyond this are taken for something in the way.
const DEEPEST: usize = 32;

/// Lists the files on disk at places where a merge from one tree to another would make a file, and
/// that are not in the first tree.
pub(crate) fn in_the_way(
    repository: &Repository,
    now: &ObjectId,
    then: &ObjectId,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    let (added, removed) = (
        listed(repository, "A", now, then)?,
        listed(repository, "D", now, then)?,
    );
    let added = added.iter().map(PathBuf::as_path);
    Ok(all_blocking(repository.top(), added, &removed))
}

/// Finds the same for a change that was not merged yet, as conflicts with the checkout. `since` are
/// the paths that the checkout has touched since the change began: files that git knows there are
/// compared by a merge. A merge that follows a renamed directory may put a file elsewhere, and finds
/// out itself what is in its way.
pub(crate) fn conflicts_in_the_way(top: &Path, change: &Touched, since: &Touched) -> Vec<Conflict> {
    let added = change.added().filter(|path| !since.leaves(path));
    let removed = change.removed().map(Path::to_owned).collect();
    let found = all_blocking(top, added, &removed).into_iter();
    let conflicts = found.map(|path| Conflict::without_lines(path, IN_THE_WAY));
    conflicts.collect()
}

impl Conflict {
    /// Returns whether it is a file that git does not keep and that the change would overwrite.
    pub fn is_in_the_way(&self) -> bool {
        self.kind == IN_THE_WAY
    }
}

fn all_blocking<'a>(
    top: &Path,
    added: impl Iterator<Item = &'a Path>,
    removed: &BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let found: BTreeSet<PathBuf> = added
        .filter_map(|path| blocking(top, path, removed))
        .collect();
    found.into_iter().take(MOST_NAMED).collect()
}

/// Returns the file or directory that is in the way of one new file.
fn blocking(top: &Path, new: &Path, removed: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut above: Vec<&Path> = new.ancestors().skip(1).collect();
    above.pop();
    for directory in above.into_iter().rev() {
        let found = fs::symlink_metadata(top.join(directory)).ok()?;
        if !found.is_dir() {
            return (!removed.contains(directory)).then(|| directory.to_owned());
        }
    }
    let found = fs::symlink_metadata(top.join(new)).ok()?;
    if !found.is_dir() {
        return Some(new.to_owned());
    }
    stranger(top, new, removed, DEEPEST)
}

/// Returns something in a directory that the merge does not remove.
fn stranger(
    top: &Path,
    directory: &Path,
    removed: &BTreeSet<PathBuf>,
    depth: usize,
) -> Option<PathBuf> {
    let Ok(listed) = fs::read_dir(top.join(directory)) else {
        return Some(directory.to_owned());
    };
    if depth == 0 {
        return Some(directory.to_owned());
    }
    listed.flatten().find_map(|entry| {
        let path = directory.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return stranger(top, &path, removed, depth - 1);
        }
        (!removed.contains(&path)).then_some(path)
    })
}

fn listed(
    repository: &Repository,
    filter: &str,
    now: &ObjectId,
    then: &ObjectId,
) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let filter = format!("--diff-filter={filter}");
    let arguments = [
        "diff-tree",
        "-r",
        "-z",
        "--no-renames",
        "--name-only",
        &filter,
    ];
    let ends = [now.as_str(), then.as_str()];
    let printed = repository.git().run(&[&arguments[..], &ends].concat())?;
    Ok(entries(&printed)
        .map(|entry| path(entry).to_owned())
        .collect())
}
