//! Small stand-ins for commits of one base: they hold the files that any of the changes touches and
//! no others. A merge of large trees reads and writes them whole, for each pair of changes anew; a
//! merge of the stand-ins reads what the changes touch.
//!
//! That gives the same answer as long as no change removes a file: nothing can have been renamed
//! then, and files that nobody touches are the same on both sides.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::repository::Repository;
use crate::touched_paths::{Touched, Version};

/// The stand-ins for a base and for the results of changes, by the places of the changes.
pub(crate) struct Narrow {
    pub(crate) base: ObjectId,
    pub(crate) results: HashMap<usize, ObjectId>,
}

impl Narrow {
    /// Makes stand-ins for changes that all begin from one base and remove nothing; `None` if a file
    /// of one is a directory of another.
    pub(crate) fn of(
        repository: &Repository,
        base: &ObjectId,
        changes: &BTreeMap<usize, &Touched>,
    ) -> Result<Option<Self>, WorkspaceError> {
        let mut before: BTreeMap<&Path, Option<&Version>> = BTreeMap::new();
        for touched in changes.values() {
            let versions = touched.versions.iter();
            before.extend(versions.map(|(path, change)| (path.as_path(), change.before.as_ref())));
        }
        let is_below = |path: &&Path| {
            path.ancestors()
                .skip(1)
                .any(|above| before.contains_key(above))
        };
        if before.keys().any(is_below) {
            return Ok(None);
        }
        let mut trees = vec![tree_of(
            before.iter().map(|(path, version)| (*path, *version)),
        )];
        for touched in changes.values() {
            let after = before.iter().map(|(path, version)| {
                let change = touched.versions.get(*path);
                (
                    *path,
                    change.map_or(*version, |change| change.after.as_ref()),
                )
            });
            trees.push(tree_of(after));
        }
        let trees = repository.make_trees(&trees)?;
        let mut commits = repository
            .commit_trees(&trees.iter().collect::<Vec<_>>(), base)?
            .into_iter();
        let base = commits.next();
        let results = changes.keys().copied().zip(commits).collect();
        Ok(base.map(|base| Self { base, results }))
    }
}

/// Writes a tree as `git mktree -z` reads it.
fn tree_of<'a>(entries: impl Iterator<Item = (&'a Path, Option<&'a Version>)>) -> Vec<u8> {
    let mut text = Vec::new();
    for (path, version) in entries {
        let Some(Version { mode, id }) = version else {
            continue;
        };
        let kind = if mode == "160000" { "commit" } else { "blob" };
        text.extend_from_slice(format!("{mode} {kind} {id}\t").as_bytes());
        text.extend(flat(path));
        text.push(0);
    }
    text
}

/// Writes a path as one name, so that all files are in one directory.
fn flat(path: &Path) -> Vec<u8> {
    let mut name = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' => name.extend_from_slice(b"%2F"),
            b'%' => name.extend_from_slice(b"%25"),
            other => name.push(*other),
        }
    }
    name
}

/// Returns the path that a name stands for.
pub(crate) fn unfolded(name: &Path) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = name.as_os_str().as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, length) = match rest {
            [b'%', b'2', b'F', ..] => (b'/', 3),
            [b'%', b'2', b'5', ..] => (b'%', 3),
            _ => (*first, rest.len() - after.len()),
        };
        path.push(byte);
        rest = &rest[length..];
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_back_from_its_name() {
        for path in ["a", "src/a.rs", "100%/x%2Fy", "%25", "a\nb/ü"] {
            let name = OsString::from_vec(flat(Path::new(path)));
            assert!(!name.as_bytes().contains(&b'/'), "{path}");
            assert_eq!(unfolded(Path::new(&name)), Path::new(path));
        }
    }
}
