//! Entries of two directories that take each other's place, and what can be asked about an entry
//! before and after. No link is followed.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use pi_subagents_os::{Disk as _, System};
use rustix::fs::{
    AtFlags, FileType, Mode, linkat, mkdirat, readlinkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::directory::Directory;

/// The kind of an entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A link.
    Link,
    /// A directory.
    Directory,
    /// A pipe, a socket or a device.
    Other,
}

impl Directory {
    /// Lets an entry and an entry of another directory on the same disk take each other's place in
    /// one step. Some file systems cannot do that ([`io::ErrorKind::Unsupported`]).
    pub fn exchange(&self, name: &Path, other: &Self, other_name: &Path) -> io::Result<()> {
        System::exchange(self.as_fd(), name, other.as_fd(), other_name)
    }

    /// Moves an entry to a name in a directory on the same disk, which must be free
    /// ([`io::ErrorKind::AlreadyExists`]).
    pub fn move_to(&self, name: &Path, other: &Self, new_name: &Path) -> io::Result<()> {
        match System::rename_to_free(self.as_fd(), name, other.as_fd(), new_name) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                self.move_by_link(name, other, new_name)
            }
            moved => moved,
        }
    }

    /// Moves an entry where the file system cannot do it in one step: a second name is made, which
    /// fails if it is taken, and then the first goes.
    fn move_by_link(&self, name: &Path, other: &Self, new_name: &Path) -> io::Result<()> {
        match linkat(self, name, other, new_name, AtFlags::empty()) {
            Ok(()) => Ok(unlinkat(self, name, AtFlags::empty())?),
            // It has no second names either, so a name that is taken in this moment is not noticed.
            Err(Errno::PERM | Errno::NOTSUP | Errno::INVAL | Errno::NOSYS) => {
                if other.has(new_name)? {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Ok(renameat(self, name, other, new_name)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the kind of an entry; `None` if there is none of this name.
    pub fn entry_kind(&self, name: &Path) -> io::Result<Option<EntryKind>> {
        match statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                FileType::Directory => EntryKind::Directory,
                _ => EntryKind::Other,
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns where a link leads, as it is written in the link.
    pub fn link_target(&self, name: &Path) -> io::Result<Vec<u8>> {
        Ok(readlinkat(self, name, Vec::new())?.into_bytes())
    }

    /// Makes a directory for the users whom the umask allows, unless it is there. Returns it.
    pub fn make_ordinary_directory(&self, name: &Path) -> io::Result<Self> {
        match mkdirat(self, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.directory(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty directory. Returns false if it is not empty or not there.
    pub fn remove_empty(&self, name: &Path) -> io::Result<bool> {
        match unlinkat(self, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::BUSY) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes sure that a crash of the machine costs nothing that was written to its disk before.
    pub fn sync_disk(&self) -> io::Result<()> {
        System::sync_disk(self.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn entries_take_each_others_place_and_no_name_is_taken_twice() {
        let root = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            fs::create_dir(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join("file"), name).unwrap();
        }
        symlink("nowhere", root.path().join("one/link")).unwrap();
        let one = Directory::open(&root.path().join("one")).unwrap();
        let two = Directory::open(&root.path().join("two")).unwrap();
        let (file, link) = (Path::new("file"), Path::new("link"));
        one.exchange(file, &two, file).unwrap();
        assert_eq!(
            fs::read_to_string(root.path().join("one/file")).unwrap(),
            "two"
        );
        one.exchange(link, &two, file).unwrap();
        assert_eq!(two.link_target(file).unwrap(), b"nowhere");
        assert_eq!(one.entry_kind(link).unwrap(), Some(EntryKind::File));
        for taken in [
            one.move_to(file, &two, file),
            one.move_by_link(file, &two, file),
        ] {
            let kind = taken.unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::AlreadyExists);
        }
        one.move_to(file, &two, Path::new("moved")).unwrap();
        two.move_by_link(file, &one, Path::new("moved")).unwrap();
        assert_eq!(one.link_target(Path::new("moved")).unwrap(), b"nowhere");
        assert_eq!(two.entry_kind(file).unwrap(), None);
        assert!(!two.remove_empty(Path::new("moved")).unwrap());
    }
}
