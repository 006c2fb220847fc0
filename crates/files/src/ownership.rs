//! The owner of a file, and the other users who may write it.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Stat, fstat, statat};
use rustix::process::geteuid;

/// Others may create and remove entries.
const WRITABLE_BY_ALL: u32 = 0o002;
const WRITABLE_BY_GROUP: u32 = 0o020;
/// Only the owner of an entry may remove or rename it.
const STICKY: u32 = 0o1000;

/// The owner of a file or directory, together with who else may write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// It belongs to this user, and nobody else may write it.
    Mine,
    /// It belongs to root, and nobody else may write it. Root could change our program too, so
    /// nothing is gained by not believing it.
    Root,
    /// It belongs to this user or to root, but others may write it.
    Shared,
    /// It belongs to another user.
    Foreign,
}

impl Ownership {
    /// Tells whose an open file is.
    pub fn of(file: &File) -> io::Result<Self> {
        of_descriptor(file.as_fd())
    }

    /// Returns whether only this user and root can have written it.
    pub fn is_safe(self) -> bool {
        match self {
            Self::Mine | Self::Root => true,
            Self::Shared | Self::Foreign => false,
        }
    }
}

/// Tells whose a file or directory is; a link is followed.
pub fn ownership(path: &Path) -> io::Result<Ownership> {
    Ok(of_stat(&statat(CWD, path, AtFlags::empty())?))
}

/// Returns whether only this user and root can put something else in the place of a directory: the
/// directory and everything above it belongs to one of them, and nobody else may write it. A
/// directory above that all may write is allowed if only the owner of an entry may rename it, as in
/// the temporary directory.
pub fn is_protected(directory: &Path) -> io::Result<bool> {
    let directory = fs::canonicalize(directory)?;
    if !ownership(&directory)?.is_safe() {
        return Ok(false);
    }
    for above in directory.ancestors().skip(1) {
        let found = statat(CWD, above, AtFlags::empty())?;
        let is_protected = match of_stat(&found) {
            Ownership::Mine | Ownership::Root => true,
            Ownership::Shared => found.st_mode & STICKY != 0,
            Ownership::Foreign => false,
        };
        if !is_protected {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(crate) fn of_descriptor(descriptor: BorrowedFd<'_>) -> io::Result<Ownership> {
    Ok(of_stat(&fstat(descriptor)?))
}

fn of_stat(found: &Stat) -> Ownership {
    decide(
        geteuid().as_raw(),
        found.st_uid,
        found.st_gid,
        found.st_mode,
    )
}

/// Decides whose a directory is by its numbers.
///
/// A group that has the number of its user is that user's own. The umask of most systems decides in
/// the same way whether new files may be written by the group.
fn decide(user: u32, owner: u32, group: u32, mode: u32) -> Ownership {
    let is_written_by_others =
        mode & WRITABLE_BY_ALL != 0 || (mode & WRITABLE_BY_GROUP != 0 && group != owner);
    match owner {
        _ if owner != user && owner != 0 => Ownership::Foreign,
        _ if is_written_by_others => Ownership::Shared,
        _ if owner == user => Ownership::Mine,
        _ => Ownership::Root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_own_or_may_write_is_not_safe() {
        assert_eq!(decide(7, 7, 7, 0o755), Ownership::Mine);
        assert_eq!(decide(7, 7, 7, 0o775), Ownership::Mine);
        assert_eq!(decide(7, 7, 100, 0o775), Ownership::Shared);
        assert_eq!(decide(7, 7, 7, 0o757), Ownership::Shared);
        assert_eq!(decide(7, 0, 0, 0o755), Ownership::Root);
        assert_eq!(decide(7, 0, 0, 0o1777), Ownership::Shared);
        assert_eq!(decide(7, 0, 7, 0o775), Ownership::Shared);
        assert_eq!(decide(7, 8, 8, 0o755), Ownership::Foreign);
        assert_eq!(decide(0, 8, 8, 0o755), Ownership::Foreign);
        assert_eq!(decide(0, 0, 0, 0o755), Ownership::Mine);
    }
}
