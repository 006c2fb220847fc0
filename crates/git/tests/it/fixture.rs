//! A repository for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pi_subagents_git::{NewWorktree, Repository};
use tempfile::TempDir;

/// A repository in a directory of its own, with one commit: `kept.txt` and `.gitignore`.
pub(crate) struct Fixture {
    pub(crate) place: TempDir,
}

impl Fixture {
    /// Makes a repository with a commit.
    pub(crate) fn new() -> Self {
        let fixture = Self::without_commit();
        fixture.write("kept.txt", "one\ntwo\nthree\n");
        fixture.write(".gitignore", "*.log\n");
        fixture.commit("first");
        fixture
    }

    /// Makes a repository without a commit.
    pub(crate) fn without_commit() -> Self {
        let place = tempfile::tempdir().unwrap();
        let fixture = Self { place };
        fs::create_dir(fixture.top()).unwrap();
        fixture.git(&["init", "--quiet", "--initial-branch=main"]);
        fixture.name_author();
        fixture
    }

    pub(crate) fn name_author(&self) {
        self.git(&["config", "user.name", "Ada"]);
        self.git(&["config", "user.email", "ada@example.com"]);
    }

    /// Returns the top of the checkout.
    pub(crate) fn top(&self) -> PathBuf {
        self.place.path().join("repository")
    }

    /// Finds the repository as the crate does.
    pub(crate) fn repository(&self) -> Repository {
        Repository::find(&self.top()).unwrap()
    }

    /// Makes a worktree on a branch of a run, from HEAD. Returns its place, and the worktree as the
    /// crate finds it.
    pub(crate) fn worktree(&self, name: &str) -> (PathBuf, Repository) {
        let path = self.place.path().join(name);
        let made = make_worktree(&self.repository(), &path);
        (fs::canonicalize(path).unwrap(), made)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.top(), name, text);
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.top().join(name)).unwrap()
    }

    /// Commits everything, and returns the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the checkout.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.top(), arguments)
    }
}

/// The branch of the worktrees that tests make.
pub(crate) const BRANCH: &str = "pi-subagents/run";

/// Makes a worktree of a repository, as a run has one.
pub(crate) fn make_worktree(repository: &Repository, path: &Path) -> Repository {
    let base = repository.demand_head().unwrap();
    let wished = NewWorktree {
        path,
        branch: BRANCH,
        base: &base,
        reason: "pi-subagents run-1",
    };
    wished.make(repository).unwrap()
}

/// Begins a merge that git cannot finish.
pub(crate) fn clash(directory: &Path, branch: &str) {
    let merge = Command::new("git")
        .args(["merge", "--quiet", branch])
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(!merge.status.success());
}

/// Writes a file, with the directories above it.
pub(crate) fn write(top: &Path, name: &str, text: &str) {
    let path = top.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs git, which must succeed, and returns what it printed.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}
