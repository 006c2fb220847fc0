//! Files that are written: for the user alone, and whole or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use pi_subagents_os::{Disk as _, System};
use rustix::fs::{AtFlags, Mode, OFlags, linkat, renameat, unlinkat};
use rustix::io::Errno;

use crate::directory::Directory;
use crate::opening::open_without_links;
use crate::regular_files::regular;

/// The users who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user alone.
    Private,
    /// The users whom the umask allows.
    Ordinary,
    /// The users whom these permissions and the umask allow.
    Mode(u32),
}

impl Directory {
    /// Opens a file of this directory to append to it, and makes it if it is not there.
    pub fn append(&self, name: &Path) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let mode = Audience::Private.mode();
        regular(open_without_links(self.as_fd(), name, flags, mode)?)
    }

    /// Makes an empty file that must not be there yet.
    pub fn create_new(&self, name: &Path) -> io::Result<File> {
        self.create(name, Audience::Private)
    }

    /// Removes a file of this directory, or a link itself.
    pub fn remove(&self, name: &Path) -> io::Result<()> {
        Ok(unlinkat(self, name, AtFlags::empty())?)
    }

    /// Writes a file for the user alone, so that a reader finds it whole or not at all.
    ///
    /// It is not synced: a child waits for it, and syncing may take as long as a tenth of its
    /// start.
    pub fn write_whole(&self, name: &Path, content: &[u8]) -> io::Result<()> {
        let temporary = Temporary::write(self, content, Audience::Private)?;
        temporary.replace(name)
    }

    /// Writes a file whole, so that a crash of the machine does not cost it; false if somebody was
    /// faster.
    pub fn write_whole_once(&self, name: &Path, content: &[u8]) -> io::Result<bool> {
        let temporary = Temporary::write(self, content, Audience::Private)?;
        temporary.file.sync_data()?;
        temporary.become_if_new(name)
    }

    /// Replaces a file whole, so that a crash of the machine leaves the old one or the new one.
    pub fn replace(&self, name: &Path, content: &[u8], audience: Audience) -> io::Result<()> {
        let temporary = Temporary::write(self, content, audience)?;
        temporary.file.sync_all()?;
        temporary.replace(name)?;
        System::sync_directory(self.as_fd())
    }

    fn create(&self, name: &Path, audience: Audience) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let opened = open_without_links(self.as_fd(), name, flags, audience.mode())?;
        Ok(File::from(opened))
    }
}

impl Audience {
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Private => Mode::RUSR | Mode::WUSR,
            Self::Ordinary => Mode::from_raw_mode(0o666),
            Self::Mode(mode) => Mode::from_raw_mode(mode),
        }
    }
}

/// A file that has not got its final name. It is removed if it never gets it.
struct Temporary<'a> {
    directory: &'a Directory,
    name: OsString,
    file: File,
    is_left: bool,
}

impl<'a> Temporary<'a> {
    fn write(directory: &'a Directory, content: &[u8], audience: Audience) -> io::Result<Self> {
        let mut temporary = Self::create(directory, audience)?;
        temporary.file.write_all(content)?;
        Ok(temporary)
    }

    /// Makes a file under a name that is free. A process of the same number, which died or runs on
    /// another machine, may have left a file.
    fn create(directory: &'a Directory, audience: Audience) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".writing-{}-{count}", process::id()));
            match directory.create(Path::new(&name), audience) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    return Ok(Self {
                        directory,
                        name,
                        file: made?,
                        is_left: true,
                    });
                }
            }
        }
    }

    fn replace(mut self, name: &Path) -> io::Result<()> {
        renameat(self.directory, Path::new(&self.name), self.directory, name)?;
        self.is_left = false;
        Ok(())
    }

    fn become_if_new(mut self, name: &Path) -> io::Result<bool> {
        let own = Path::new(&self.name);
        let directory = self.directory.as_fd();
        match System::rename_to_free(directory, own, directory, name) {
            Ok(()) => {
                self.is_left = false;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                match linkat(self.directory, own, self.directory, name, AtFlags::empty()) {
                    Err(Errno::EXIST) => Ok(false),
                    other => Ok(other.map(|()| true)?),
                }
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.is_left {
            // The file is hidden, and only we use it.
            _ = unlinkat(self.directory, Path::new(&self.name), AtFlags::empty());
        }
    }
}
