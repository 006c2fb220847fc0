//! The paths that a change touches. Two changes that touch different places fit each other, and
//! nobody has to merge them to know it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::strange;
use crate::object_id::ObjectId;
use crate::repository::{Repository, lines, path};

/// The mode of a path that is not there.
const ABSENT: &str = "000000";

/// The paths that differ between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// The versions of each path.
    pub(crate) versions: BTreeMap<PathBuf, Versions>,
    /// True if a file is gone or has become something else. It may have been renamed, and then
    /// files of other names are touched too.
    pub(crate) has_removed: bool,
}

/// A path in the two states; `None` where it is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Versions {
    pub(crate) before: Option<Version>,
    pub(crate) after: Option<Version>,
}

/// A path in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// The mode, as git writes it: `100644`.
    pub(crate) mode: String,
    pub(crate) id: ObjectId,
}

impl Touched {
    /// Compares pairs of commits, from the first to the second, all by one process.
    pub(crate) fn between(
        repository: &Repository,
        pairs: &[(&ObjectId, &ObjectId)],
    ) -> Result<Vec<Self>, WorkspaceError> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let arguments = [
            "diff-tree",
            "--stdin",
            "--always",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
        ];
        // Git compares the first commit of a line with the others as if those were its parents.
        let input = lines(pairs.iter().map(|(from, to)| format!("{to} {from}")));
        let printed = repository.git().run_with(&arguments, input.as_bytes())?;
        parse(&printed)
            .filter(|touched| touched.len() == pairs.len())
            .ok_or_else(|| strange(&arguments, &printed).into())
    }

    /// Returns whether a change and another one can be brought together without merging any file:
    /// neither removes a file, and no path of one is a path of the other or lies below it.
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
        !self.has_removed
            && !other.has_removed
            && !self.reaches_below(other)
            && !other.reaches_below(self)
    }

    /// Returns whether a path is one of another change, or lies below one.
    fn reaches_below(&self, other: &Self) -> bool {
        let mut above = self.versions.keys().flat_map(|path| path.ancestors());
        above.any(|path| other.versions.contains_key(path))
    }

    /// Returns the paths that are new.
    pub(crate) fn added(&self) -> impl Iterator<Item = &Path> {
        let new = self.versions.iter().filter(|(_, it)| it.before.is_none());
        new.map(|(path, _)| path.as_path())
    }

    /// Returns the paths that are gone.
    pub(crate) fn removed(&self) -> impl Iterator<Item = &Path> {
        let gone = self.versions.iter().filter(|(_, it)| it.after.is_none());
        gone.map(|(path, _)| path.as_path())
    }

    /// Returns whether a path was touched and is there afterwards.
    pub(crate) fn leaves(&self, path: &Path) -> bool {
        let versions = self.versions.get(path);
        versions.is_some_and(|versions| versions.after.is_some())
    }

    /// Returns the paths that both touch.
    pub(crate) fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Path> {
        let paths = self.versions.keys().map(PathBuf::as_path);
        paths.filter(|path| other.versions.contains_key(*path))
    }
}

/// Reads for each pair the name of a commit, and the entries `:modes ids letter` with a path each.
fn parse(printed: &[u8]) -> Option<Vec<Touched>> {
    let mut fields = printed.split(|byte| *byte == 0);
    let mut all: Vec<Touched> = Vec::new();
    loop {
        let field = fields.next()?;
        if field.is_empty() {
            return fields.next().is_none().then_some(all);
        }
        if !field.starts_with(b":") {
            ObjectId::parse(std::str::from_utf8(field).ok()?)?;
            all.push(Touched::default());
            continue;
        }
        let touched = all.last_mut()?;
        touched.has_removed |= matches!(field.last()?, b'D' | b'T');
        let versions = Versions::parse(std::str::from_utf8(field).ok()?)?;
        let path = path(fields.next()?).to_owned();
        touched.versions.insert(path, versions);
    }
}

impl Versions {
    /// Reads `:100644 100644 <id> <id> M`.
    fn parse(entry: &str) -> Option<Self> {
        let mut words = entry.strip_prefix(':')?.split(' ');
        let (old_mode, new_mode) = (words.next()?, words.next()?);
        let (old_id, new_id) = (words.next()?, words.next()?);
        let version = |mode: &str, id: &str| {
            let (mode, id) = (mode.to_owned(), ObjectId::parse(id)?);
            Some((mode != ABSENT).then_some(Version { mode, id }))
        };
        Some(Self {
            before: version(old_mode, old_id)?,
            after: version(new_mode, new_id)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(paths: &[&str], has_removed: bool) -> Touched {
        let id = "b".repeat(40);
        let versions = Versions::parse(&format!(":100644 100644 {id} {id} M")).unwrap();
        let versions = paths.iter().map(|path| (path.into(), versions.clone()));
        Touched {
            versions: versions.collect(),
            has_removed,
        }
    }

    #[test]
    fn changes_are_apart_if_no_path_of_one_meets_the_other() {
        let one = touched(&["a", "src/b"], false);
        for (paths, expected) in [
            (&["c", "src/c"][..], true),
            (&[], true),
            (&["src/b"], false),
            (&["src"], false),
            (&["a/file"], false),
            (&["src/bb"], true),
        ] {
            let other = touched(paths, false);
            assert_eq!(one.is_apart_from(&other), expected, "{paths:?}");
            assert_eq!(other.is_apart_from(&one), expected, "{paths:?}");
        }
        // The other one may have renamed a directory into which the first one puts a file.
        assert!(!one.is_apart_from(&touched(&["c"], true)));
    }

    #[test]
    fn answers_are_read_as_git_writes_them() {
        let id = "a".repeat(40);
        let other = "b".repeat(40);
        let text = format!(
            "{id}\0{id}\0:100644 100644 {other} {other} M\0f\ng\0:100644 000000 {other} {id} D\0h\0"
        );
        let mut expected = touched(&["f\ng", "h"], true);
        expected.versions.get_mut(Path::new("h")).unwrap().after = None;
        assert_eq!(
            parse(text.as_bytes()).unwrap(),
            [touched(&[], false), expected]
        );
        for text in ["", ":1 2 a b M\0f\0", "HEAD\0"] {
            let read = parse(text.as_bytes());
            assert!(read.is_none_or(|read| read.is_empty()), "{text:?}");
        }
    }
}
