//! Files that only seem to lie in a directory.

use std::fs;
use std::path::Path;

/// Returns whether a file that lies in a directory is really somewhere else, by a link.
pub(crate) fn leads_out_of(directory: &Path, file: &Path) -> bool {
    match (fs::canonicalize(directory), fs::canonicalize(file)) {
        (Ok(directory), Ok(file)) => !file.starts_with(directory),
        // A path that cannot be resolved cannot be read either; its reader reports that.
        (Ok(_) | Err(_), _) => false,
    }
}
