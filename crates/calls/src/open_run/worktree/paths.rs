//! The names of worktrees, and whether there is room for one.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;

use pi_subagents_git::{Repository, WorkspaceError};
use pi_subagents_view::figures::bytes;
use pi_subagents_vocabulary::RunId;

use super::of_file;

/// With less room on the disk, beside that for the files, no worktree is made.
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

/// Returns the branch of a new worktree. A branch called `pi-subagents` leaves no room for others
/// below its name.
pub(super) fn branch_of(repository: &Repository, leaf: &str) -> Result<String, WorkspaceError> {
    let is_taken = repository.commit_of("refs/heads/pi-subagents")?.is_some();
    let folder = if is_taken {
        "pi-subagents-run"
    } else {
        "pi-subagents"
    };
    Ok(format!("{folder}/{leaf}"))
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

/// Refuses a disk without room for a worktree of a repository.
pub(super) fn check_room(folder: &Path, repository: &Repository) -> Result<(), WorkspaceError> {
    let free = pi_subagents_os::free_space(folder).map_err(|error| of_file(folder, error))?;
    match lacking_room(free, repository.tracked_size()?) {
        Some(words) => Err(of_file(folder, std::io::Error::other(words))),
        None => Ok(()),
    }
}

/// Says why a disk has no room for a worktree with so many bytes of files, if it has none. Twice the
/// size is needed: for the files, and for what is written in their place.
fn lacking_room(free: u64, tracked: u64) -> Option<String> {
    let needed = tracked.saturating_mul(2).saturating_add(LEAST_ROOM);
    (free < needed).then(|| {
        format!(
            "{} are free on this disk, and a worktree needs {}: twice the {} of its files, and 1.0 GB",
            bytes(free),
            bytes(needed),
            bytes(tracked)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_needs_room_for_its_files_twice_and_some_more() {
        let gigabyte = 1_000_000_000;
        assert_eq!(lacking_room(gigabyte, 0), None);
        assert_eq!(lacking_room(7 * gigabyte, 3 * gigabyte), None);
        let words = lacking_room(2 * gigabyte, 3 * gigabyte).unwrap();
        insta::assert_snapshot!(words, @"2.0 GB are free on this disk, and a worktree needs 7.0 GB: twice the 3.0 GB of its files, and 1.0 GB");
    }

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
