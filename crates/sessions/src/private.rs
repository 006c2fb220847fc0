//! Files and directories that only the user may read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Makes a directory and its parents.
pub(crate) fn create_directories(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Makes one directory that must not be there yet.
pub(crate) fn create_new_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Opens a file to append to it.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// Makes an empty file that must not be there yet.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// Writes a file that only the user may read, so that whoever looks finds it whole or not at all.
///
/// It is not synced: a child waits for it, and syncing may take as long as a tenth of its start.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_temporary(path, content)?.persist(path)?;
    Ok(())
}

/// Writes a file whole, so that a crash of the machine does not cost it; false if somebody was
/// faster.
pub(crate) fn write_whole_once(path: &Path, content: &[u8]) -> io::Result<bool> {
    let temporary = write_temporary(path, content)?;
    temporary.as_file().sync_data()?;
    match temporary.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A temporary file is made readable by its user only.
fn write_temporary(path: &Path, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new()
        .prefix(".writing-")
        .tempfile_in(directory)?;
    temporary.write_all(content)?;
    Ok(temporary)
}

/// Makes sure that a crash of the machine does not cost a file that was written before.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_data()
}
