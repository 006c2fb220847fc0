//! Removes whole directories, and measures the disk space they take. No link is ever followed.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use pi_subagents_os::{Disk as _, System};
use rustix::fs::{AtFlags, Mode, chmodat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::directory::Directory;
use crate::exchange::EntryKind;
use crate::refusal::FileRefusal;

/// Directories inside each other beyond this are neither counted nor removed.
const DEEPEST: usize = 64;

/// The number of entries that are looked at in one directory.
const MOST_ENTRIES: usize = 1_000_000;

/// The size of a block in the figures that the system gives about a file, on every file system.
const BLOCK: u64 = 512;

impl Directory {
    /// Gives an entry of this directory another name in it, which must be free.
    pub fn rename(&self, name: &Path, new_name: &Path) -> io::Result<()> {
        match System::rename_to_free(self.as_fd(), name, self.as_fd(), new_name) {
            // A directory that is not empty is never replaced.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(renameat(self, name, self, new_name)?)
            }
            other => other,
        }
    }

    /// Returns whether it has an entry of this name and of any kind.
    pub fn has(&self, name: &Path) -> io::Result<bool> {
        match statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a directory of this directory with all it holds. A link inside is removed, and its
    /// target stays.
    pub fn remove_tree(&self, name: &Path) -> io::Result<()> {
        self.remove_below(name, DEEPEST)
    }

    fn remove_below(&self, name: &Path, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or(FileRefusal::TooDeep)?;
        let inner = self.directory(name)?;
        for entry in inner.list(MOST_ENTRIES)? {
            let name = Path::new(&entry.name);
            if entry.is_directory {
                inner.remove_below(name, depth)?;
            } else {
                inner.remove(name)?;
            }
        }
        Ok(unlinkat(self, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes an entry of whatever kind, however deep its directories lie inside each other and
    /// whatever their permissions are. It is no error if there is none.
    pub fn remove_anything(&self, name: &Path) -> io::Result<()> {
        match self.entry_kind(name)? {
            None => Ok(()),
            Some(EntryKind::File | EntryKind::Link | EntryKind::Other) => self.remove(name),
            Some(EntryKind::Directory) => {
                let top = self.open_by_force(name)?;
                let mut deep = 0;
                // What lies too deep is moved to the top, so that there is more to remove.
                while top.empty(&top, DEEPEST, &mut deep)? {}
                Ok(unlinkat(self, name, AtFlags::REMOVEDIR)?)
            }
        }
    }

    /// Removes what this directory holds. Directories below `depth` others are moved to `top`.
    /// Returns whether that happened.
    fn empty(&self, top: &Self, depth: usize, deep: &mut usize) -> io::Result<bool> {
        let mut has_moved = false;
        for entry in self.list(MOST_ENTRIES)? {
            let name = Path::new(&entry.name);
            if !entry.is_directory {
                self.remove(name)?;
                continue;
            }
            let Some(depth) = depth.checked_sub(1) else {
                *deep += 1;
                let new_name = format!(".deep-{}-{deep}", std::process::id());
                renameat(self, name, top, Path::new(&new_name))?;
                has_moved = true;
                continue;
            };
            has_moved |= self.open_by_force(name)?.empty(top, depth, deep)?;
            unlinkat(self, name, AtFlags::REMOVEDIR)?;
        }
        Ok(has_moved)
    }

    /// Opens a directory whose entries are to be removed, after its owner is given the right to.
    fn open_by_force(&self, name: &Path) -> io::Result<Self> {
        // If that is not possible, opening or removing says why.
        _ = chmodat(self, name, Mode::RWXU, AtFlags::empty());
        self.directory(name)
    }

    /// Returns how many bytes of the disk a directory of this directory takes with all it holds.
    pub fn disk_use(&self, name: &Path) -> io::Result<u64> {
        self.use_below(name, DEEPEST)
    }

    fn use_below(&self, name: &Path, depth: usize) -> io::Result<u64> {
        let depth = depth.checked_sub(1).ok_or(FileRefusal::TooDeep)?;
        let inner = self.directory(name)?;
        let mut bytes = blocks(self, name)?;
        for entry in inner.list(MOST_ENTRIES)? {
            let name = Path::new(&entry.name);
            bytes += if entry.is_directory {
                inner.use_below(name, depth)?
            } else {
                blocks(&inner, name)?
            };
        }
        Ok(bytes)
    }
}

/// Returns the bytes that an entry itself takes. An entry that was removed meanwhile takes none.
fn blocks(directory: &Directory, name: &Path) -> io::Result<u64> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(u64::try_from(found.st_blocks).unwrap_or_default() * BLOCK),
        Err(Errno::NOENT) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_goes_and_what_its_links_lead_to_stays() {
        let root = tempfile::tempdir().unwrap();
        let outside = root.path().join("outside");
        fs::create_dir_all(root.path().join("tree/inner/deep")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        fs::write(root.path().join("tree/inner/file"), "x").unwrap();
        symlink(&outside, root.path().join("tree/inner/link")).unwrap();
        symlink(&outside, root.path().join("way")).unwrap();
        let directory = Directory::open(root.path()).unwrap();
        assert!(directory.disk_use(Path::new("tree")).unwrap() >= 512);
        directory.remove_tree(Path::new("way")).unwrap_err();
        directory.remove_tree(Path::new("..")).unwrap_err();
        directory.remove_tree(Path::new("tree")).unwrap();
        assert!(!root.path().join("tree").exists());
        assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "x");
    }

    #[test]
    fn a_tree_that_is_too_deep_is_left() {
        let root = tempfile::tempdir().unwrap();
        let deep: std::path::PathBuf = (0..=DEEPEST).map(|_| "d").collect();
        fs::create_dir_all(root.path().join(deep)).unwrap();
        let directory = Directory::open(root.path()).unwrap();
        for error in [
            directory.disk_use(Path::new("d")).unwrap_err(),
            directory.remove_tree(Path::new("d")).unwrap_err(),
        ] {
            assert_eq!(FileRefusal::of(&error), Some(FileRefusal::TooDeep));
        }
    }

    #[test]
    fn anything_can_be_removed() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let outside = root.path().join("outside");
        fs::create_dir(&outside).unwrap();
        symlink(&outside, root.path().join("link")).unwrap();
        let directory = Directory::open(root.path()).unwrap();
        // Deeper than a path can be long.
        let mut top = directory.make_new_directory(Path::new("deep")).unwrap();
        for _ in 0..3 * DEEPEST {
            top = top.make_new_directory(Path::new("directory")).unwrap();
            top.create_new(Path::new("file")).unwrap();
        }
        fs::create_dir_all(root.path().join("shut/inner")).unwrap();
        fs::write(root.path().join("shut/inner/file"), "x").unwrap();
        for name in ["shut/inner", "shut"] {
            let none = fs::Permissions::from_mode(0o000);
            fs::set_permissions(root.path().join(name), none).unwrap();
        }
        for name in ["deep", "shut", "link", "nothing"] {
            directory.remove_anything(Path::new(name)).unwrap();
            assert!(!directory.has(Path::new(name)).unwrap(), "{name}");
        }
        assert!(outside.exists());
    }

    #[test]
    fn a_name_that_is_taken_is_not_taken_again() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("b/file"), "x").unwrap();
        let directory = Directory::open(root.path()).unwrap();
        directory
            .rename(Path::new("a"), Path::new("b"))
            .unwrap_err();
        directory.rename(Path::new("b"), Path::new("c")).unwrap();
        assert!(directory.has(Path::new("c")).unwrap());
        assert!(!directory.has(Path::new("b")).unwrap());
    }
}
