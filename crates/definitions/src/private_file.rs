//! Replaces a file as a whole: whoever reads it sees the old one or the new one.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// For the user alone.
pub(crate) const PRIVATE: u32 = 0o600;

/// As the user's umask has it.
pub(crate) const ORDINARY: u32 = 0o666;

/// Writes a file beside another and puts it in its place.
pub(crate) fn replace(file: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new()
        .prefix(".subagents-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(directory)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    temporary.persist(file).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}
