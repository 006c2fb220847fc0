//! A place for objects that nobody needs later, so that a trial merge adds nothing to the
//! repository.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use tempfile::TempDir;

use crate::error::WorkspaceError;
use crate::passing_directory::passing_directory;
use crate::repository::Repository;

/// A place for objects. They are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Quarantine {
    _directory: TempDir,
}

impl Quarantine {
    /// Returns a place, and the repository as it writes its objects there.
    pub(crate) fn of(repository: &Repository) -> Result<(Self, Repository), WorkspaceError> {
        let directory = passing_directory()?;
        let writing = quarantined(repository, directory.path());
        let quarantine = Self {
            _directory: directory,
        };
        Ok((quarantine, writing))
    }
}

/// Returns a repository as it writes its objects to a place.
pub(crate) fn quarantined(repository: &Repository, place: &Path) -> Repository {
    let own = quoted(&repository.common_dir().join("objects"));
    repository
        .with_variables(&[
            ("GIT_OBJECT_DIRECTORY", place.into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", own),
        ])
        // They live for a moment. A tree of a large directory takes longer to compress than to
        // merge.
        .with_setting("core.looseCompression=0")
}

/// Writes a path so that git does not take it for a list of paths.
fn quoted(path: &Path) -> OsString {
    let mut written = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            written.push(b'\\');
        }
        written.push(*byte);
    }
    written.push(b'"');
    OsString::from_vec(written)
}
