//! What is laid over the files of the machine, and in which order. Pure.
//!
//! A cover holds for its path and everything below, until a cover of a deeper path. So covers are
//! placed parents first, and no rule about pairs of them is needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is laid over one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cover {
    /// The files that were there, and they can be changed.
    Writable,
    /// The files that were there, and they cannot be changed.
    ReadOnly,
    /// An empty directory in the place of one.
    HiddenDirectory,
    /// An empty file in the place of one.
    HiddenFile,
    /// An empty directory that the child may fill, and that vanishes with it.
    Private,
    /// Terminals that only the child has.
    Terminals,
    /// The files that were there, with changes that vanish with the child.
    Overlay,
}

impl Cover {
    /// Returns whether the child may write there.
    pub(crate) fn is_writable(self) -> bool {
        match self {
            Self::Writable | Self::Private | Self::Terminals | Self::Overlay => true,
            Self::ReadOnly | Self::HiddenDirectory | Self::HiddenFile => false,
        }
    }

    /// Returns whether nothing of what was there is seen any more.
    fn hides(self) -> bool {
        match self {
            Self::HiddenDirectory | Self::HiddenFile | Self::Private | Self::Terminals => true,
            Self::Writable | Self::ReadOnly | Self::Overlay => false,
        }
    }
}

/// The covers of a plan. All paths are real ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Covers(BTreeMap<PathBuf, Cover>);

impl Covers {
    /// Lays a cover; of two for one path the later one holds.
    pub(crate) fn lay(&mut self, path: PathBuf, cover: Cover) {
        self.0.insert(path, cover);
    }

    /// Returns the covers, parents before their children: a path sorts before those below it.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (&Path, Cover)> {
        self.0.iter().map(|(path, cover)| (path.as_path(), *cover))
    }

    /// Returns the cover that holds for a path.
    pub(crate) fn over(&self, path: &Path) -> Option<Cover> {
        path.ancestors()
            .find_map(|above| self.0.get(above).copied())
    }

    /// Returns whether a path would not be seen.
    pub(crate) fn is_hidden(&self, path: &Path) -> bool {
        self.over(path).is_some_and(Cover::hides)
    }

    /// Returns the paths below which the child may write.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        let writable = self.in_order().filter(|(_, cover)| cover.is_writable());
        writable.map(|(path, _)| path.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_cover_holds_and_parents_are_placed_first() {
        let mut covers = Covers::default();
        covers.lay("/w/.git/hooks".into(), Cover::ReadOnly);
        covers.lay("/w".into(), Cover::Writable);
        covers.lay("/w/.git".into(), Cover::Writable);
        covers.lay("/h/.ssh".into(), Cover::HiddenDirectory);
        let order: Vec<_> = covers.in_order().map(|(path, _)| path).collect();
        let expected = ["/h/.ssh", "/w", "/w/.git", "/w/.git/hooks"].map(Path::new);
        assert_eq!(order, expected);
        assert_eq!(covers.over(Path::new("/w/src/a")), Some(Cover::Writable));
        assert_eq!(
            covers.over(Path::new("/w/.git/hooks/x")),
            Some(Cover::ReadOnly)
        );
        assert!(covers.is_hidden(Path::new("/h/.ssh/id")));
        assert!(!covers.is_hidden(Path::new("/h")));
    }
}
