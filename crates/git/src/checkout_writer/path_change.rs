//! The paths in which two states differ, as git lists them.

use std::path::PathBuf;

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// A path that differs between two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathChange {
    pub(super) path: PathBuf,
    pub(super) before: Side,
    pub(super) after: Side,
}

/// One side of a changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) kind: SideKind,
    pub(super) id: String,
}

/// The kind of something in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SideKind {
    None,
    File,
    Executable,
    Link,
    Submodule,
}

impl SideKind {
    /// Returns whether git writes a file for it.
    pub(super) fn is_written(self) -> bool {
        match self {
            Self::File | Self::Executable | Self::Link => true,
            Self::None | Self::Submodule => false,
        }
    }

    fn of(mode: &str) -> Option<Self> {
        match mode {
            "000000" => Some(Self::None),
            "100755" => Some(Self::Executable),
            "120000" => Some(Self::Link),
            "160000" => Some(Self::Submodule),
            mode if mode.starts_with("100") => Some(Self::File),
            _ => None,
        }
    }
}

/// Lists the paths in which two states differ.
pub(super) fn path_changes(
    repository: &Repository,
    before: &ObjectId,
    after: &ObjectId,
) -> Result<Vec<PathChange>, WorkspaceError> {
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
    let arguments = [&arguments[..], &[before.as_str(), after.as_str()]].concat();
    let printed = repository.git().run(&arguments)?;
    parsed(&printed).ok_or_else(|| crate::git::strange(&arguments, &printed).into())
}

/// Reads `:100644 100755 <id> <id> M`, followed by the path.
fn parsed(printed: &[u8]) -> Option<Vec<PathChange>> {
    let mut parts = entries(printed);
    let mut found = Vec::new();
    while let Some(described) = parts.next() {
        let words = std::str::from_utf8(described).ok()?.strip_prefix(':')?;
        let words: Vec<&str> = words.split(' ').collect();
        let [mode_before, mode_after, id_before, id_after, _] = words.as_slice() else {
            return None;
        };
        let side = |mode: &str, id: &str| {
            Some(Side {
                kind: SideKind::of(mode)?,
                id: id.to_owned(),
            })
        };
        found.push(PathChange {
            path: path(parts.next()?).to_owned(),
            before: side(mode_before, id_before)?,
            after: side(mode_after, id_after)?,
        });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_git_is_read() {
        let printed =
            b":100644 100755 a b M\0a b\n\0:000000 120000 0 c A\0new\0:160000 000000 d 0 D\0sub\0";
        let found = parsed(printed).unwrap();
        let kinds: Vec<_> = found
            .iter()
            .map(|one| (one.path.to_str().unwrap(), one.before.kind, one.after.kind))
            .collect();
        assert_eq!(
            kinds,
            [
                ("a b\n", SideKind::File, SideKind::Executable),
                ("new", SideKind::None, SideKind::Link),
                ("sub", SideKind::Submodule, SideKind::None),
            ]
        );
        assert_eq!(parsed(b":100644 100755 a b M\0"), None);
        assert_eq!(parsed(b"nonsense\0x\0"), None);
        assert_eq!(parsed(b""), Some(Vec::new()));
    }
}
