//! Paths as models write them, and errors as Node words them.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::{ToolError, ToolSurroundings};

/// Resolves a path of a call: `~` is the home directory, a leading `@` is dropped,
/// anything relative starts at the working directory.
pub(super) fn resolve(path: &str, surroundings: &ToolSurroundings) -> PathBuf {
    let path = path.strip_prefix('@').unwrap_or(path);
    let expanded = match path.strip_prefix('~') {
        Some("") => surroundings.home.clone(),
        Some(rest) if rest.starts_with('/') => surroundings.home.join(&rest[1..]),
        _ => surroundings.cwd.join(path),
    };
    without_dots(&expanded)
}

/// Takes `.` and `..` out of the words of a path, without asking the disk.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                plain.push(component);
            }
        }
    }
    plain
}

/// Returns an error in the words that models know from pi: `ENOENT: no such file or directory,
/// access '/x'`.
pub(super) fn failure(error: &io::Error, action: &str, path: &Path) -> ToolError {
    let path = path.display();
    match code(error) {
        Some((code, words)) => ToolError::new(format!("{code}: {words}, {action} '{path}'")),
        None => ToolError::new(format!("{error}, {action} '{path}'")),
    }
}

/// Returns the symbolic name of an error, such as `ENOENT`.
pub(super) fn code_name(error: &io::Error) -> String {
    code(error).map_or_else(|| error.to_string(), |(code, _)| code.to_owned())
}

fn code(error: &io::Error) -> Option<(&'static str, &'static str)> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        io::ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        io::ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        io::ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        io::ErrorKind::StorageFull => ("ENOSPC", "no space left on device"),
        io::ErrorKind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        io::ErrorKind::InvalidFilename => ("ENAMETOOLONG", "name too long"),
        _ => return None,
    })
}
