//! The folder of all worktrees, and what lies in it that no run knows.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pi_subagents_files::Directory;

use super::Workspace;

/// A directory in the folder of worktrees that no run knows.
pub struct Stray {
    pub path: PathBuf,
    pub age: Option<Duration>,
}

/// Returns the folder of all worktrees. It is in no project, where tools that look upwards would
/// find the files of the checkout, and in no temporary directory, which others clean.
pub fn worktrees_folder(home: &Path, setting: Option<&Path>) -> PathBuf {
    setting.map_or_else(|| home.join(".pi/subagent-worktrees"), Path::to_owned)
}

/// The folder in it for the scratch copies of reviews, which are no worktrees of runs.
pub const REVIEW_FOLDER: &str = ".review";

/// Lists what lies in the folder of worktrees and is of no run.
pub fn strays(folder: &Path, known: &[Workspace]) -> Vec<Stray> {
    let known: HashSet<&Path> = known.iter().filter_map(Workspace::path).collect();
    let repositories = directories_in(folder);
    let of_runs = |folder: &&PathBuf| !folder.ends_with(REVIEW_FOLDER);
    let found = repositories
        .iter()
        .filter(of_runs)
        .flat_map(|one| directories_in(one));
    let unknown = found.filter(|path| !known.contains(path.as_path()));
    let mut strays: Vec<Stray> = unknown
        .map(|path| Stray {
            age: age_of(&path),
            path,
        })
        .collect();
    strays.sort_by(|one, other| one.path.cmp(&other.path));
    strays
}

fn directories_in(folder: &Path) -> Vec<PathBuf> {
    // A folder that cannot be listed shows nothing.
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let directories = listed.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).collect()
}

fn age_of(path: &Path) -> Option<Duration> {
    let written = fs::symlink_metadata(path).ok()?.modified().ok()?;
    SystemTime::now().duration_since(written).ok()
}

/// Returns how many bytes the files of a worktree take.
pub fn size_of(path: &Path) -> Option<u64> {
    let (above, name) = (path.parent()?, path.file_name()?);
    Directory::open(above).ok()?.disk_use(Path::new(name)).ok()
}
