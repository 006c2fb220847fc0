//! The names of worktrees, and whether there is room for one.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;

use pi_subagents_delegation::RunId;
use pi_subagents_workspaces::{Repository, WorkspaceError};

use super::of_file;

/// With less room on the disk no worktree is made.
const LEAST_ROOM: u64 = 1_000_000_000;

/// Returns the name of the folder of all worktrees of one repository.
pub(super) fn repository_folder(repository: &Repository) -> String {
    let name = repository
        .top()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let mut hasher = DefaultHasher::new();
    repository.common_dir().hash(&mut hasher);
    format!("{}-{:08x}", plain(&name), hasher.finish() >> 32)
}

/// Returns the name of the worktree of a run, which is also the end of its branch.
pub(super) fn leaf(name: &str, run: &RunId) -> String {
    format!("{}-{}", plain(name), tail(run))
}

/// Returns a name as a part of a path and of a branch.
fn plain(name: &str) -> String {
    let letters = name.chars().map(|letter| {
        let is_plain = letter.is_ascii_alphanumeric() || letter == '_';
        if is_plain { letter } else { '-' }
    });
    let plain: String = letters.take(40).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() {
        "task".to_owned()
    } else {
        plain.to_owned()
    }
}

/// Returns the end of a run's id, which no other run has.
pub(super) fn tail(run: &RunId) -> &str {
    let id = run.as_str();
    id.get(id.len().saturating_sub(6)..).unwrap_or(id)
}

/// Refuses a disk without room for a worktree.
pub(super) fn check_room(folder: &Path) -> Result<(), WorkspaceError> {
    let found = rustix::fs::statvfs(folder).map_err(|error| of_file(folder, error.into()))?;
    if found.f_bavail.saturating_mul(found.f_frsize) >= LEAST_ROOM {
        return Ok(());
    }
    let words = "less than 1 GB is free on this disk";
    Err(of_file(folder, std::io::Error::other(words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parts_of_paths() {
        for (name, expected) in [
            ("api", "api"),
            ("task 1", "task-1"),
            ("../../etc", "etc"),
            ("ünïcode", "n-code"),
            ("", "task"),
            ("-rf", "rf"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
