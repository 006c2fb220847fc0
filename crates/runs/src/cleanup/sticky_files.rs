//! Removes the files of sticky sessions, for a user who asks for it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_records::{IndexedRun, StickyFile, sticky_files};
use pi_subagents_vocabulary::Timestamp;

use super::choice::is_older;

/// Chooses the files of sessions that go. A file to which a run leads that stays never does.
pub struct StickyChoice {
    /// The files of runs that go with this removal.
    pub of_removed: HashSet<PathBuf>,
    /// The age at which files go that no run leads to; it counts from the last write.
    pub older: Option<Duration>,
}

/// The outcome for the chosen files.
#[derive(Debug, Default)]
pub struct StickySwept {
    pub removed: Vec<StickyFile>,
    /// Files that a run has locked.
    pub locked: Vec<PathBuf>,
    pub problems: Vec<String>,
}

/// Returns the files that the runs lead to.
pub fn files_of<'a>(runs: impl Iterator<Item = &'a IndexedRun>) -> HashSet<PathBuf> {
    runs.filter_map(|run| run.directory.sticky_file()).collect()
}

/// Chooses files among all that the user has. `of_kept` are the files of runs that stay.
pub fn chosen(
    home: &Path,
    choice: &StickyChoice,
    of_kept: &HashSet<PathBuf>,
    now: Timestamp,
) -> Vec<StickyFile> {
    let mut files = sticky_files(home);
    files.retain(|file| {
        let is_old = || {
            let older = choice.older;
            older.is_some_and(|age| is_older(file.written_at, age, now))
        };
        let is_of_removed = choice.of_removed.contains(&file.path);
        !of_kept.contains(&file.path) && (is_of_removed || is_old())
    });
    files
}

/// Removes the chosen files.
pub fn sweep(files: Vec<StickyFile>) -> StickySwept {
    let mut swept = StickySwept::default();
    for file in files {
        match file.remove() {
            Ok(true) => swept.removed.push(file),
            Ok(false) => swept.locked.push(file.path),
            Err(error) => {
                let shown = file.path.display();
                swept
                    .problems
                    .push(format!("could not remove {shown}: {error}"));
            }
        }
    }
    swept
}
