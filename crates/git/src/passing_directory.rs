//! Directories that are there for a moment.

use tempfile::TempDir;

use crate::error::WorkspaceError;

/// Makes a directory among the temporary files. It is removed when it is dropped.
pub(crate) fn passing_directory() -> Result<TempDir, WorkspaceError> {
    let place = std::env::temp_dir();
    tempfile::tempdir_in(&place).map_err(WorkspaceError::of_file(&place))
}
