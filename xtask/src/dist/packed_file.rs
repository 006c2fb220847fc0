//! A file on its way into an archive. Archives are the same wherever they are made: files are sorted,
//! belong to root, and have one fixed time.

use std::collections::BTreeSet;

/// The time of every file in every archive: the first second of 2026, in seconds of Unix.
pub(super) const TIME: u64 = 1_767_225_600;

/// The mode of a file that is read.
pub(super) const READ: u32 = 0o644;

/// The mode of a file that is started, and of a directory.
pub(super) const START: u32 = 0o755;

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedFile {
    /// Its path in the archive, without a leading slash.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) bytes: Vec<u8>,
}

impl PackedFile {
    /// Makes a file that is read.
    pub(super) fn text(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            mode: READ,
            bytes: bytes.into(),
        }
    }

    /// Makes a file that is started.
    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            mode: START,
            ..Self::text(path, bytes)
        }
    }
}

/// Puts all files into a folder.
pub(super) fn below(folder: &str, files: Vec<PackedFile>) -> Vec<PackedFile> {
    let inside = |file: PackedFile| PackedFile {
        path: format!("{folder}/{}", file.path),
        ..file
    };
    files.into_iter().map(inside).collect()
}

/// Returns the files in the order of their paths.
pub(super) fn sorted(files: &[PackedFile]) -> Vec<&PackedFile> {
    let mut sorted: Vec<&PackedFile> = files.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    sorted
}

/// Returns the directories of the files, each before those in it.
pub(super) fn directories(files: &[PackedFile]) -> BTreeSet<String> {
    let mut directories = BTreeSet::new();
    for file in files {
        for (at, _) in file.path.match_indices('/') {
            directories.insert(file.path[..=at].to_owned());
        }
    }
    directories
}
