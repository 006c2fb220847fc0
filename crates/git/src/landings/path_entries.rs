//! The paths that a landing touches, as the index and a commit have them. They are noted when it
//! begins, so that taking it back knows what was staged or committed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::Git;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// Files with their modes and ids, as git writes them.
pub(super) type Entries = BTreeMap<PathBuf, Vec<u8>>;

/// Lists the paths in which two states differ.
pub(super) fn differing(
    repository: &Repository,
    before: &ObjectId,
    after: &ObjectId,
) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let arguments = ["diff-tree", "-r", "-z", "--no-renames", "--name-only"];
    let ends = [before.as_str(), after.as_str()];
    let printed = repository.git().run(&[&arguments[..], &ends].concat())?;
    Ok(entries(&printed).map(|one| path(one).to_owned()).collect())
}

/// Reads the entries of some paths in a commit.
pub(super) fn in_commit(
    repository: &Repository,
    commit: &ObjectId,
    paths: &BTreeSet<PathBuf>,
) -> Result<Entries, WorkspaceError> {
    let arguments = ["ls-tree", "-r", "-z", "--full-tree", commit.as_str()];
    listed(repository.git(), &arguments, paths)
}

/// Reads the entries of some paths in the index of the checkout.
pub(super) fn staged(
    repository: &Repository,
    paths: &BTreeSet<PathBuf>,
) -> Result<Entries, WorkspaceError> {
    listed(repository.git(), &["ls-files", "-s", "-z"], paths)
}

/// Reads lines of the form `mode … id …\tpath`.
fn listed(
    git: &Git,
    arguments: &[&str],
    paths: &BTreeSet<PathBuf>,
) -> Result<Entries, WorkspaceError> {
    let printed = git.run(arguments)?;
    let mut found = Entries::new();
    for entry in entries(&printed) {
        let Some(at) = entry.iter().position(|byte| *byte == b'\t') else {
            continue;
        };
        let name = path(&entry[at + 1..]);
        if paths.contains(name) {
            found.insert(name.to_owned(), entry[..at].to_owned());
        }
    }
    Ok(found)
}

/// Writes entries as a file.
pub(super) fn to_bytes(entries: &Entries) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut bytes = Vec::new();
    for (path, entry) in entries {
        bytes.extend_from_slice(entry);
        bytes.push(b'\t');
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Reads entries as [`to_bytes`] writes them.
pub(super) fn from_bytes(bytes: &[u8]) -> Entries {
    let read = entries(bytes).filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        Some((path(&entry[at + 1..]).to_owned(), entry[..at].to_owned()))
    });
    read.collect()
}

/// Returns the mode and the id of an entry: its first word and its only long one.
pub(super) fn mode_and_id(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = entry.split(|byte| *byte == b' ');
    let mode = words.next()?;
    words.find(|word| word.len() >= 40).map(|id| (mode, id))
}

/// Returns the paths whose entries differ.
pub(super) fn changed<'a>(
    paths: &'a BTreeSet<PathBuf>,
    one: &Entries,
    other: &Entries,
) -> Vec<&'a Path> {
    let differs = |path: &&PathBuf| one.get(*path) != other.get(*path);
    paths.iter().filter(differs).map(PathBuf::as_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let id = "0a473df871c7713ad1ff54b18fe81afd83a86ca7";
        let entry = |words: String| words.into_bytes();
        let entries = Entries::from([
            ("a\tb\n".into(), entry(format!("100644 {id} 0"))),
            ("c".into(), entry(format!("100755 blob {id}"))),
        ]);
        assert_eq!(from_bytes(&to_bytes(&entries)), entries);
        let read: Vec<_> = entries.values().map(|entry| mode_and_id(entry)).collect();
        let expected = ["100644", "100755"].map(|mode| Some((mode.as_bytes(), id.as_bytes())));
        assert_eq!(read, expected);
    }
}
