//! The paths that a change touches. Two changes that touch different places fit each other, and
//! nobody has to merge them to know it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::strange;
use crate::object_id::ObjectId;
use crate::repository::{Repository, lines, path};

/// The paths that differ between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    paths: BTreeSet<PathBuf>,
    /// True if a file is gone or has become something else. It may have been renamed, and then
    /// files of other names are touched too.
    has_removed: bool,
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
        let mut above = self.paths.iter().flat_map(|path| path.ancestors());
        above.any(|path| other.paths.contains(path))
    }

    /// Returns the paths that both touch.
    pub(crate) fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Path> {
        self.paths.intersection(&other.paths).map(PathBuf::as_path)
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
        touched.paths.insert(path(fields.next()?).to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(paths: &[&str], has_removed: bool) -> Touched {
        let paths = paths.iter().map(PathBuf::from).collect();
        Touched { paths, has_removed }
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
        let text = format!("{id}\0{id}\0:1 2 a b M\0f\ng\0:1 0 a 0 D\0h\0");
        let expected = [touched(&[], false), touched(&["f\ng", "h"], true)];
        assert_eq!(parse(text.as_bytes()).unwrap(), expected);
        for text in ["", ":1 2 a b M\0f\0", "HEAD\0"] {
            let read = parse(text.as_bytes());
            assert!(read.is_none_or(|read| read.is_empty()), "{text:?}");
        }
    }
}
