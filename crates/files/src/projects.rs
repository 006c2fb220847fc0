//! Finds the project of a directory, and decides which directories above it may be looked at.
//!
//! Git learned it the hard way: a program that takes the nearest marked directory above for the
//! project obeys everybody who can make a directory there. So, as with git's `safe.directory`, only
//! directories of the user or of root count, and only as long as nobody else may write into them.
//! Root's directories count too, because root could change our program as well.

use std::fs;
use std::path::{Path, PathBuf};

use crate::directory::Directory;
use crate::ownership::{Ownership, ownership};

/// More entries of a `.pi` need not be looked at to know that somebody wrote something there.
const MANY: usize = 1000;

/// A `.git` file names a directory, so it is short.
const LONGEST_GIT_FILE: u64 = 8192;

/// The directories that are never a project, whatever lies in them: the root of the file system,
/// the home and the temporary directories. Nothing above them is looked at either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeverProjects {
    directories: Vec<PathBuf>,
}

impl NeverProjects {
    /// Takes the user's home and the temporary directories of this system.
    pub fn new(home: &Path, temporary: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut directories = vec![PathBuf::from("/"), real(home)];
        directories.extend(temporary.into_iter().map(|path| real(&path)));
        Self { directories }
    }

    /// Returns the directory and those above it in which files of a project may be looked for,
    /// nearest first: up to the first one that is never a project or not safe from others.
    pub fn own_directories(&self, directory: &Path) -> Vec<PathBuf> {
        let ancestors = directory.ancestors();
        let own = ancestors.take_while(|one| !self.is_never(one) && is_safe(one));
        own.map(Path::to_owned).collect()
    }

    /// Returns the project that a directory belongs to: the nearest directory above with a mark,
    /// else the directory itself; `None` if there cannot be a project.
    pub fn project_of(&self, directory: &Path) -> Option<PathBuf> {
        let mut own = self.own_directories(directory);
        let marked = own.iter().position(|one| has_mark(one));
        (!own.is_empty()).then(|| own.swap_remove(marked.unwrap_or(0)))
    }

    fn is_never(&self, directory: &Path) -> bool {
        self.directories.contains(&real(directory))
    }
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_safe(path: &Path) -> bool {
    ownership(path).is_ok_and(Ownership::is_safe)
}

/// Returns whether somebody made a directory a project.
fn has_mark(directory: &Path) -> bool {
    is_repository(&directory.join(".git")) || is_written_into(&directory.join(".pi"))
}

/// Returns whether this is the `.git` of a repository: a directory with a `HEAD`, or the file that
/// a worktree and a submodule have.
pub(crate) fn is_repository(git: &Path) -> bool {
    if !is_safe(git) {
        return false;
    }
    if git.is_dir() {
        return fs::symlink_metadata(git.join("HEAD")).is_ok();
    }
    let content = crate::read_own(git, LONGEST_GIT_FILE).unwrap_or_default();
    content.starts_with(b"gitdir:")
}

/// Returns whether somebody wrote definitions or settings into a `.pi`: our own records, which a
/// run leaves anywhere, make no project of a directory.
fn is_written_into(pi: &Path) -> bool {
    let holds_other_than = |directory: &Path, ours: &str| {
        let entries = Directory::open(directory).and_then(|directory| directory.list(MANY));
        // If there are too many entries to be listed, not all of them are ours.
        entries.map_or_else(
            |error| crate::FileRefusal::of(&error).is_some(),
            |entries| entries.iter().any(|entry| entry.name != ours),
        )
    };
    is_safe(pi)
        && (holds_other_than(pi, "subagents") || holds_other_than(&pi.join("subagents"), "runs"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    struct Stage {
        root: tempfile::TempDir,
    }

    impl Stage {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("temporary/code/repo/src")).unwrap();
            Self { root }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(name)
        }

        fn make(&self, name: &str) {
            fs::create_dir_all(self.path(name)).unwrap();
        }

        fn write(&self, name: &str, content: &str) {
            self.make(Path::new(name).parent().unwrap().to_str().unwrap());
            fs::write(self.path(name), content).unwrap();
        }

        fn project_of(&self, name: &str) -> Option<PathBuf> {
            let never = NeverProjects::new(&self.path("home"), [self.path("temporary")]);
            never.project_of(&self.path(name))
        }
    }

    const INNER: &str = "temporary/code/repo/src";

    #[test]
    fn a_record_or_an_empty_mark_makes_no_project() {
        let stage = Stage::new();
        stage.make("temporary/code/repo/.pi/subagents/runs/some-run");
        stage.make("temporary/code/repo/.git");
        stage.make("temporary/code/.pi");
        assert_eq!(stage.project_of(INNER), Some(stage.path(INNER)));
    }

    #[test]
    fn a_repository_a_worktree_and_written_files_are_marks() {
        for mark in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git", "gitdir: ../elsewhere\n"),
            (".pi/settings.json", "{}"),
            (".pi/subagents/scout.md", "---\n---\n"),
            (".pi/agents/scout.md", ""),
        ] {
            let stage = Stage::new();
            let repository = "temporary/code/repo";
            stage.write(&format!("{repository}/{}", mark.0), mark.1);
            let found = stage.project_of(INNER);
            assert_eq!(found, Some(stage.path(repository)), "{mark:?}");
        }
    }

    #[test]
    fn the_root_the_home_and_the_temporary_directory_are_never_projects() {
        let stage = Stage::new();
        for name in ["temporary", "home"] {
            stage.write(&format!("{name}/.git/HEAD"), "ref: x\n");
            stage.write(&format!("{name}/.pi/settings.json"), "{}");
            assert_eq!(stage.project_of(name), None);
            let below = format!("{name}/unmarked");
            stage.make(&below);
            assert_eq!(stage.project_of(&below), Some(stage.path(&below)));
        }
        let never = NeverProjects::new(&stage.path("home"), []);
        assert_eq!(never.project_of(Path::new("/")), None);
    }

    #[test]
    fn what_others_may_write_is_no_project_and_ends_the_search() {
        let stage = Stage::new();
        stage.write("temporary/code/.git/HEAD", "ref: x\n");
        assert_eq!(stage.project_of(INNER), Some(stage.path("temporary/code")));
        let repository = stage.path("temporary/code/repo");
        fs::set_permissions(&repository, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(stage.project_of("temporary/code/repo"), None);
        assert_eq!(stage.project_of(INNER), Some(stage.path(INNER)));
        fs::set_permissions(&repository, Permissions::from_mode(0o755)).unwrap();
        let mark = stage.path("temporary/code/.git");
        fs::set_permissions(mark, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(stage.project_of(INNER), Some(stage.path(INNER)));
    }
}
