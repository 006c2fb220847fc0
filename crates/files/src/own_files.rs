//! Opens, reads and writes files by their paths, first of all those of the user.
//!
//! A file that is read or appended to may be a link to wherever the user keeps it. A file that is
//! written whole takes the place of a link.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::directory::Directory;
use crate::opening::explained;
use crate::regular_files::{read_bounded, regular};
use crate::whole_files::Audience;

/// Opens a regular file of the user, through links if there are some.
pub fn open_own(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = openat(CWD, path, flags, Mode::empty());
    regular(opened.map_err(|error| explained(error.into()))?)
}

/// Reads a regular file of the user of at most `limit` bytes, through links if there are some.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_bounded(&open_own(path)?, limit)
}

/// Reads such a file as text.
pub fn read_own_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read_own(path, limit)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens a regular file for reading. Neither its name nor the name of its directory may be a link.
pub fn open_plain(path: &Path) -> io::Result<File> {
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => Directory::open_plain(above)?.open_file(Path::new(name)),
        (Some(_) | None, _) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Makes a directory and its parents, for the user alone.
pub fn create_directories(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Opens a file of the user to append to it, through links if there are some, and makes it, for
/// the user alone, if it is not there.
pub fn append_own(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::CLOEXEC
        | OFlags::NONBLOCK
        | OFlags::NOCTTY;
    regular(openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)?)
}

/// Makes an empty file, for the user alone, that must not be there yet.
pub fn create_new(path: &Path) -> io::Result<File> {
    let (directory, name) = split(path)?;
    directory.create_new(name)
}

/// Writes a file for the user alone; see [`Directory::write_whole`].
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let (directory, name) = split(path)?;
    directory.write_whole(name, content)
}

/// Writes a file once; see [`Directory::write_whole_once`].
pub fn write_whole_once(path: &Path, content: &[u8]) -> io::Result<bool> {
    let (directory, name) = split(path)?;
    directory.write_whole_once(name, content)
}

/// Replaces a file; see [`Directory::replace`].
pub fn replace(path: &Path, content: &[u8], audience: Audience) -> io::Result<()> {
    let (directory, name) = split(path)?;
    directory.replace(name, content, audience)
}

/// Makes sure that a crash of the machine does not cost a file that was written before.
pub fn sync(path: &Path) -> io::Result<()> {
    let (directory, name) = split(path)?;
    directory.open_file(name)?.sync_data()
}

fn split(path: &Path) -> io::Result<(Directory, &Path)> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let directory = Directory::open(above.unwrap_or(Path::new(".")))?;
    Ok((directory, Path::new(name)))
}
