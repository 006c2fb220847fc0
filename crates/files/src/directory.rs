//! A directory that is held open, and the files below it.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use pi_subagents_os::{Disk as _, System};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use crate::opening::{is_about_a_link, open_without_links};
use crate::ownership::{Ownership, of_descriptor};
use crate::refusal::FileRefusal;
use crate::regular_files::{read_bounded, regular};

/// A directory that is held open: if somebody renames it meanwhile, nothing changes for us.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    /// Its real path when it was opened.
    path: PathBuf,
}

impl Directory {
    /// Opens a directory, through links if its path has some: the caller answers for the path.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = openat(CWD, path, flags, Mode::empty())?;
        let path =
            System::real_path(descriptor.as_fd()).map_or_else(|| fs::canonicalize(path), Ok)?;
        Ok(Self { descriptor, path })
    }

    /// Opens a directory whose own name must not be a link; the directories above it may be links.
    pub fn open_plain(path: &Path) -> io::Result<Self> {
        match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => {
                let above = if above.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    above
                };
                Self::open(above)?.directory(Path::new(name))
            }
            (Some(_) | None, _) => Self::open(path),
        }
    }

    /// Returns the real path it had when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory below it without following a link.
    pub fn directory(&self, path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let descriptor = open_without_links(self.as_fd(), path, flags, Mode::empty());
        Ok(Self {
            descriptor: descriptor.map_err(|error| self.explained(error, path))?,
            path: self.path.join(path),
        })
    }

    /// Opens a directory below it without following a link, and makes it, for the user alone, if
    /// it is not there.
    pub fn make_directory(&self, name: &Path) -> io::Result<Self> {
        match self.make_new_directory(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.directory(name),
            other => other,
        }
    }

    /// Makes a directory below it, for the user alone; it must not be there yet.
    pub fn make_new_directory(&self, name: &Path) -> io::Result<Self> {
        mkdirat(self.as_fd(), name, Mode::RWXU)?;
        self.directory(name)
    }

    /// Opens a regular file for reading without following a link.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        let opened = open_without_links(self.as_fd(), path, OFlags::RDONLY, Mode::empty());
        regular(opened?)
    }

    /// Opens a regular file for reading; a link is followed if it stays inside this directory.
    pub fn open_beneath(&self, path: &Path) -> io::Result<File> {
        self.through_links(path, Self::open_file)
    }

    /// Reads a regular file of at most `limit` bytes without following a link.
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_bounded(&self.open_file(path)?, limit)
    }

    /// Reads a regular file of at most `limit` bytes; a link is followed if it stays inside this
    /// directory.
    pub fn read_beneath(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_bounded(&self.open_beneath(path)?, limit)
    }

    /// Tells whose it is and whether others may write into it.
    pub fn ownership(&self) -> io::Result<Ownership> {
        of_descriptor(self.as_fd())
    }

    /// Opens something through links that stay inside this directory.
    ///
    /// The real path is only advice: it is opened without links again, so a change in between gains
    /// an attacker nothing.
    fn through_links<T>(
        &self,
        path: &Path,
        open: impl Fn(&Self, &Path) -> io::Result<T>,
    ) -> io::Result<T> {
        match open(self, path) {
            Err(error) if is_about_a_link(&error) => {
                let real = fs::canonicalize(self.path.join(path))?;
                let below = real.strip_prefix(&self.path);
                open(self, below.map_err(|_| FileRefusal::LeadsOut)?)
            }
            other => other,
        }
    }

    /// Names a link as the reason if the system only reports that something is no directory.
    fn explained(&self, error: io::Error, path: &Path) -> io::Error {
        let is_no_directory = error.raw_os_error() == Some(Errno::NOTDIR.raw_os_error());
        let is_link = || fs::symlink_metadata(self.path.join(path)).is_ok_and(|it| it.is_symlink());
        if is_no_directory && is_link() {
            return FileRefusal::Link.into();
        }
        error
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
