//! The difference between two states: which files, how much, and the patch.

use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::{GitError, strange, words};
use crate::matrix::Change;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// A patch above this size is not made.
pub const LARGEST_PATCH: usize = 20_000_000;

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The present path, below the top of the checkout.
    pub path: PathBuf,
    /// The kind of change.
    pub status: ChangeKind,
    /// Lines that were added and removed; `None` for a binary file.
    pub lines: Option<(u64, u64)>,
    /// The permissions before and after, if they have changed: `0o644` and `0o755`.
    pub modes: Option<(u32, u32)>,
}

/// The kind of change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Added,
    /// The file has another content or mode.
    Modified,
    /// The file is gone.
    Deleted,
    /// The file has another name.
    Renamed {
        /// The old name.
        from: PathBuf,
    },
    /// The file was replaced by a link, or the other way round.
    TypeChanged,
}

impl ChangeKind {
    /// Returns the word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed { .. } => "renamed",
            Self::TypeChanged => "type changed",
        }
    }
}

/// Lists the files in which a result differs from its base.
pub fn changes(
    repository: &Repository,
    base: &ObjectId,
    result: &ObjectId,
) -> Result<Vec<FileChange>, WorkspaceError> {
    let ends = [base.as_str(), result.as_str()];
    let arguments = [
        "diff-tree",
        "-r",
        "-z",
        "-M",
        "--no-ext-diff",
        "--raw",
        "--numstat",
    ];
    let arguments = [&arguments[..], &ends].concat();
    let printed = repository.git().run(&arguments)?;
    parse(&printed).ok_or_else(|| strange(&arguments, &printed).into())
}

/// Lists the submodules whose commit a change moves, and those that it adds or removes.
pub fn moved_submodules(
    repository: &Repository,
    change: &Change,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    let ends = [change.base.as_str(), change.result.as_str()];
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
    let printed = repository.git().run(&[&arguments[..], &ends].concat())?;
    let mut fields = entries(&printed);
    let mut moved = Vec::new();
    while let (Some(modes), Some(name)) = (fields.next(), fields.next()) {
        let mut modes = modes.split(|byte| *byte == b' ');
        if modes.any(|mode| mode == b":160000" || mode == b"160000") {
            moved.push(path(name).to_owned());
        }
    }
    Ok(moved)
}

/// Names the commits of a change that its base does not have, newest first, at most so many.
pub fn commits_of(
    repository: &Repository,
    change: &Change,
    most: usize,
) -> Result<Vec<String>, WorkspaceError> {
    let most = format!("--max-count={most}");
    let before = format!("^{}", change.base);
    let arguments = ["rev-list", &most, change.result.as_str(), &before];
    let printed = repository.git().line(&arguments)?;
    Ok(printed.lines().map(str::to_owned).collect())
}

/// Makes the patch from a base to a result, as `git apply` reads it; `None` if it has more than
/// [`LARGEST_PATCH`] bytes.
pub fn patch(
    repository: &Repository,
    base: &ObjectId,
    result: &ObjectId,
) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let ends = [base.as_str(), result.as_str()];
    let options = [
        "-r",
        "-M",
        "--binary",
        "--full-index",
        "--no-ext-diff",
        "--no-textconv",
    ];
    let arguments = [&["diff-tree", "-p", "--no-color"][..], &options, &ends].concat();
    let git = repository.git().clone().with_most_output(LARGEST_PATCH);
    match git.run(&arguments) {
        Ok(patch) => Ok(Some(patch)),
        Err(GitError::TooMuch { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes the patch of one file of a change, by its old and its new path; `None` if it has more than
/// [`LARGEST_PATCH`] bytes.
pub fn file_patch(
    repository: &Repository,
    change: &Change,
    paths: &[&Path],
) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let options = [
        "diff-tree",
        "-p",
        "-r",
        "-M",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
    ];
    let ends = [change.base.as_str(), change.result.as_str(), "--"];
    let mut arguments = words(&[&options[..], &ends].concat());
    arguments.extend(paths.iter().map(|path| path.as_os_str()));
    let git = repository.git().clone().with_most_output(LARGEST_PATCH);
    let git = git.with_variable("GIT_LITERAL_PATHSPECS", "1");
    match git.run(&arguments) {
        Ok(patch) => Ok(Some(patch)),
        Err(GitError::TooMuch { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads raw entries and then, in the same order, the numbers of lines.
fn parse(printed: &[u8]) -> Option<Vec<FileChange>> {
    let mut fields = printed.split(|byte| *byte == 0).peekable();
    let mut files = Vec::new();
    while fields.peek().is_some_and(|field| field.starts_with(b":")) {
        files.push(raw_entry(&mut fields)?);
    }
    for file in &mut files {
        file.lines = numbers(&mut fields)?;
    }
    Some(files)
}

/// Reads `:100644 100644 <id> <id> M` and the one or two names after it.
fn raw_entry<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<FileChange> {
    let entry = fields.next()?;
    let letter = entry.rsplit(|byte| *byte == b' ').next()?.first()?;
    let name = path(fields.next()?).to_owned();
    let (path, status) = match letter {
        b'A' | b'C' => (name, ChangeKind::Added),
        b'D' => (name, ChangeKind::Deleted),
        b'T' => (name, ChangeKind::TypeChanged),
        b'R' => (
            path(fields.next()?).to_owned(),
            ChangeKind::Renamed { from: name },
        ),
        _ => (name, ChangeKind::Modified),
    };
    Some(FileChange {
        path,
        status,
        lines: None,
        modes: changed_modes(entry),
    })
}

/// Reads the permissions of `:100644 100755`, if both are those of a file and they differ.
fn changed_modes(entry: &[u8]) -> Option<(u32, u32)> {
    let mut modes = entry.strip_prefix(b":")?.split(|byte| *byte == b' ');
    let mut permissions = || {
        let digits = modes.next()?.strip_prefix(b"100")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
    };
    let (before, after) = (permissions()?, permissions()?);
    (before != after).then_some((before, after))
}

/// Reads `1\t2\tname`, or `1\t2\t` and two names after it.
#[expect(
    clippy::option_option,
    reason = "the outer one is about the format, the inner one about the file"
)]
fn numbers<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Option<(u64, u64)>> {
    let field = fields.next()?;
    let mut parts = field.splitn(3, |byte| *byte == b'\t');
    let mut number = || std::str::from_utf8(parts.next()?).ok();
    let (added, removed) = (number()?, number()?);
    if parts.next()?.is_empty() {
        fields.next()?;
        fields.next()?;
    }
    Some(added.parse().ok().zip(removed.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_line_breaks_renames_and_binary_files_are_read() {
        let printed = b":100644 100755 a b M\0a\nb\0:100644 100644 a b R090\0old\0new\0:000000 100644 a b A\0image\0\
                        3\t1\ta\nb\x002\t0\t\0old\0new\0-\t-\timage\0";
        let expected = [
            FileChange {
                path: "a\nb".into(),
                status: ChangeKind::Modified,
                lines: Some((3, 1)),
                modes: Some((0o644, 0o755)),
            },
            FileChange {
                path: "new".into(),
                status: ChangeKind::Renamed { from: "old".into() },
                lines: Some((2, 0)),
                modes: None,
            },
            FileChange {
                path: "image".into(),
                status: ChangeKind::Added,
                lines: None,
                modes: None,
            },
        ];
        assert_eq!(parse(printed).unwrap(), expected);
        assert_eq!(parse(b"").unwrap(), []);
        assert_eq!(parse(b":1 2 3 4 M\0a"), None);
    }
}
