//! The directories that hold run directories.
//!
//! A user who can write into one of them can put another run directory in the place of ours, and a
//! child loads files from there. So each belongs to the user, and nobody else may write it or
//! anything above it; if that is not so, records go under the agent directory.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{self as files, Directory, Ownership, is_protected};
use pi_subagents_vocabulary::RunId;

use crate::run_dir::RunDir;

/// From a project to its runs.
const WAY: [&str; 3] = [".pi", "subagents", "runs"];

/// Makes git ignore everything beside it.
const IGNORE: &str = ".gitignore";

/// Opens the directory of a project's runs, and makes it if need be.
pub(crate) fn make_in_project(project: &Path) -> io::Result<Directory> {
    follow(project, Directory::make_directory)
}

/// Opens the directory of a project's runs if it is there.
pub(crate) fn open_in_project(project: &Path) -> io::Result<Directory> {
    follow(project, Directory::directory)
}

/// Opens the directory that the user wants runs in, and makes it if need be.
pub(crate) fn make_named(path: &Path) -> io::Result<Directory> {
    files::create_directories(path)?;
    open_named(path)
}

/// Opens the directory that the user wants runs in if it is there.
pub(crate) fn open_named(path: &Path) -> io::Result<Directory> {
    let directory = Directory::open(path)?;
    check_protection(&directory)?;
    check_ownership(&directory)?;
    Ok(directory)
}

/// Opens the directory for runs that can be nowhere else. The agent directory is the user's, so the
/// directories above it are taken as they are.
pub(crate) fn make_own(path: &Path) -> io::Result<Directory> {
    files::create_directories(path)?;
    Directory::open(path)
}

/// Opens the directory of a record, if this user's records may be there. `elsewhere` is the
/// directory under the agent directory.
pub(crate) fn open_recorded(runs: &Path, elsewhere: &Path) -> io::Result<Directory> {
    if let Ok(own) = Directory::open(elsewhere)
        && own.path() == runs
    {
        check_ownership(&own)?;
        return Ok(own);
    }
    let way: PathBuf = WAY.iter().collect();
    match runs
        .ends_with(&way)
        .then(|| runs.ancestors().nth(WAY.len()))
    {
        Some(Some(project)) => open_in_project(project),
        Some(None) | None => open_named(runs),
    }
}

/// Makes the directory of a run.
pub(crate) fn make_run_directory(runs: &Directory, run: &RunId) -> io::Result<RunDir> {
    make_ignored(runs)?;
    let made = runs.make_new_directory(Path::new(run.as_str()))?;
    Ok(RunDir::new(made.path()))
}

fn follow(
    project: &Path,
    step: impl Fn(&Directory, &Path) -> io::Result<Directory>,
) -> io::Result<Directory> {
    let mut directory = Directory::open(project)?;
    check_protection(&directory)?;
    for name in WAY {
        directory = step(&directory, Path::new(name))?;
        check_ownership(&directory)?;
    }
    Ok(directory)
}

fn check_protection(directory: &Directory) -> io::Result<()> {
    if is_protected(directory.path())? {
        return Ok(());
    }
    let shown = directory.path().display();
    Err(unsafe_place(format!(
        "others may write to {shown} or put something else in its place"
    )))
}

fn check_ownership(directory: &Directory) -> io::Result<()> {
    let shown = directory.path().display();
    match directory.ownership()? {
        Ownership::Mine => Ok(()),
        Ownership::Shared => Err(unsafe_place(format!("others may write to {shown}"))),
        Ownership::Root | Ownership::Foreign => {
            Err(unsafe_place(format!("{shown} belongs to another user")))
        }
    }
}

fn unsafe_place(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

/// Makes git ignore the records, also where a repository brought the directory along with an
/// ignore file of its own.
fn make_ignored(runs: &Directory) -> io::Result<()> {
    let found = runs.read(Path::new(IGNORE), 4096).unwrap_or_default();
    if ignores_records(&String::from_utf8_lossy(&found)) {
        return Ok(());
    }
    runs.write_whole(Path::new(IGNORE), b"*\n")
}

/// Returns whether an ignore file keeps all records out of git. It may exempt itself and a file
/// that keeps the directory.
fn ignores_records(content: &str) -> bool {
    let mut rules = content
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_harmless = |line: &str| matches!(line, "*" | "!.gitignore" | "!.gitkeep");
    rules.clone().any(|line| line == "*") && rules.all(is_harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignore_file_must_ignore_everything() {
        for good in ["*\n", "# ours\n*\n!.gitignore\n", "*\r\n!.gitkeep\r\n"] {
            assert!(ignores_records(good), "{good:?}");
        }
        for bad in ["", "!*\n", "*\n!*\n", "*.log\n", "# *\n", "*\n!*.jsonl\n"] {
            assert!(!ignores_records(bad), "{bad:?}");
        }
    }
}
