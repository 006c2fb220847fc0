//! The directory of all logs of a user.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pi_subagents_files::{Directory, create_directories};

/// The name of the directory inside the agent directory.
pub const LOGS: &str = "subagents-logs";

/// The age at which a log that nobody writes to is removed.
pub const LONGEST_KEPT: Duration = Duration::from_hours(7 * 24);

/// If there are more files, the oldest are removed.
const MOST_FILES: usize = 1000;

/// A directory with more entries is not looked through.
const MOST_ENTRIES: usize = 100_000;

/// Opens the directory of the logs, and makes it, for the user alone, if it is not there.
pub(super) fn open_folder(agent_dir: &Path) -> io::Result<Directory> {
    create_directories(agent_dir)?;
    Directory::open(agent_dir)?.make_directory(Path::new(LOGS))
}

/// Removes the logs that are too old, and the oldest where there are too many.
pub(super) fn remove_old(folder: &Directory, now: SystemTime) -> io::Result<()> {
    remove_all_but(folder, now, MOST_FILES)
}

fn remove_all_but(folder: &Directory, now: SystemTime, most: usize) -> io::Result<()> {
    let entries = folder.list(MOST_ENTRIES)?;
    // Names begin with a time, so the oldest come first.
    let logs: Vec<&Path> = entries
        .iter()
        .map(|entry| Path::new(&entry.name))
        .filter(|name| is_log(name))
        .collect();
    let too_many = logs.len().saturating_sub(most);
    for (place, name) in logs.into_iter().enumerate() {
        if place < too_many || is_old(folder, name, now) {
            // Another process may have been faster.
            _ = folder.remove(name);
        }
    }
    Ok(())
}

/// Returns whether a file is named like a log; nothing else is ever removed.
fn is_log(name: &Path) -> bool {
    let begins_with_a_year = |name: &str| name.starts_with(|first: char| first.is_ascii_digit());
    name.extension().is_some_and(|ending| ending == "log")
        && name.to_str().is_some_and(begins_with_a_year)
}

fn is_old(folder: &Directory, name: &Path, now: SystemTime) -> bool {
    let written = folder
        .open_file(name)
        .and_then(|file| file.metadata()?.modified());
    written.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > LONGEST_KEPT))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt as _;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn names(place: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(place.path().join(LOGS)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn make(place: &TempDir, name: &str, age: Duration) {
        let file = File::create(place.path().join(LOGS).join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn the_directory_is_for_the_user_alone() {
        let place = tempfile::tempdir().unwrap();
        let agent_dir = place.path().join("home/.pi/agent");
        open_folder(&agent_dir).unwrap();
        let mode = fs::metadata(agent_dir.join(LOGS))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_link_is_no_directory_for_logs() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", place.path().join(LOGS)).unwrap();
        assert!(open_folder(place.path()).is_err());
    }

    #[test]
    fn old_logs_are_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = open_folder(place.path()).unwrap();
        let day = Duration::from_hours(24);
        make(&place, "20261101T000000.000Z-1-run.log", 8 * day);
        make(&place, "20261115T000000.000Z-2-run.log", 6 * day);
        make(&place, "notes.log", 80 * day);
        make(&place, "2026.txt", 80 * day);
        remove_old(&folder, SystemTime::now()).unwrap();
        assert_eq!(
            names(&place),
            ["2026.txt", "20261115T000000.000Z-2-run.log", "notes.log"]
        );
    }

    #[test]
    fn the_oldest_of_too_many_logs_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = open_folder(place.path()).unwrap();
        for name in ["2-run.log", "1-run.log", "3-run.log"] {
            make(&place, name, Duration::ZERO);
        }
        remove_all_but(&folder, SystemTime::now(), 2).unwrap();
        assert_eq!(names(&place), ["2-run.log", "3-run.log"]);
    }
}
