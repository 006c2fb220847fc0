//! The repository of a round whose children work in worktrees, and what must hold in it afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pi_subagents_testkit::sandbox::Sandbox;
use serde_json::Value;

use crate::checks::{Failure, FailureKind};
use crate::record::{RunFiles, runs};
use crate::round::{ChildKind, FaultKind, Round};

/// The status of the checkout, whose person has work of their own.
const STATUS: &str = " M kept.txt\n?? mine.txt\n";

/// The checkout of a round.
pub(crate) struct Repository {
    top: PathBuf,
    /// The index as the person left it.
    index: Vec<u8>,
}

impl Repository {
    /// Makes the project of a sandbox a repository with work that is not committed.
    pub(crate) fn make(sandbox: &Sandbox) -> Self {
        let top = sandbox.project();
        let mut repository = Self {
            top,
            index: Vec::new(),
        };
        repository.write("kept.txt", "one\n");
        repository.write(".gitignore", ".pi/\n");
        for arguments in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Ada"],
            &["config", "user.email", "ada@example.com"],
            &["add", "kept.txt", ".gitignore"],
            &["commit", "--quiet", "-m", "first"],
        ] {
            repository.git(arguments).expect("a repository");
        }
        repository.write("kept.txt", "one\ntwo\n");
        repository.write("mine.txt", "mine\n");
        repository.index = repository.index_now();
        repository
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.top.join(name), text).expect("a file of the person");
    }

    fn index_now(&self) -> Vec<u8> {
        fs::read(self.top.join(".git/index")).unwrap_or_default()
    }

    fn git(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.top)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(format!("git {}: {}", arguments.join(" "), words.trim()))
    }

    /// Returns what does not hold after a command has looked at the worktrees.
    pub(crate) fn check(&self, round: &Round, sandbox: &Sandbox) -> Vec<Failure> {
        let torn = |message: String| Failure::new(FailureKind::Torn, message);
        let mut failures = Vec::new();
        if self.index_now() != self.index {
            failures.push(torn("the index of the checkout has other bytes".to_owned()));
        }
        let fsck = ["fsck", "--no-dangling", "--no-progress"];
        failures.extend(self.git(&fsck).err().map(torn));
        match self.git(&["status", "--porcelain", "--untracked-files=all"]) {
            Ok(status) if status == STATUS => {}
            Ok(status) => failures.push(torn(format!("the checkout has changed: {status:?}"))),
            Err(error) => failures.push(torn(error)),
        }
        for run in runs(sandbox) {
            failures.extend(self.lost(round, &run));
        }
        failures
    }

    /// Looks for the first file that a run has made: it is in its result, or still in its
    /// directory.
    fn lost(&self, round: &Round, run: &RunFiles) -> Option<Failure> {
        let words = run.model_words();
        // The second word comes after the command of the first.
        let child: usize = words.get(1)?.split('-').nth(1)?.parse().ok()?;
        if round.children.get(child)?.kind != ChildKind::Embedded {
            return None;
        }
        let file = file(child, 1);
        let workspace = run.workspace()?;
        let result = format!("refs/pi-subagents/runs/{}/result:{file}", run.id());
        let is_in_result = self.git(&["cat-file", "-e", &result]).is_ok();
        let directory = workspace["path"].as_str().map(Path::new);
        let is_in_directory = directory.is_some_and(|path| path.join(&file).is_file());
        if is_in_result || is_in_directory {
            return None;
        }
        let message = format!("{}: {file} is nowhere: {workspace}", run.id());
        Some(Failure::new(FailureKind::Result, message))
    }
}

/// Returns the file that a child makes with one of its words.
pub(crate) fn file(child: usize, number: u64) -> String {
    format!("file-{child}-{number}.txt")
}

/// Writes a stand-in for git that is killed at one of its commands, and is the real git otherwise.
/// Returns the search path with it.
pub(crate) fn stand_in(round: &Round, sandbox: &Sandbox) -> Option<String> {
    let number = round.faults.iter().find_map(|fault| match fault.kind {
        FaultKind::Git { number } => Some(number),
        _ => None,
    })?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path).map(|directory| directory.join("git"));
    let real = directories.find(|file| file.is_file()).expect("git");
    let (real, steps) = (real.display(), sandbox.root().join("git-steps"));
    fs::create_dir(&steps).expect("a folder");
    let (steps, struck) = (steps.display(), struck(sandbox));
    let script = format!(
        "#!/bin/sh\nnumber=$(ls {steps} | wc -l)\n: > {steps}/$number\n\
         if [ \"$number\" -eq {number} ]; then\n  : > {}\n  {real} \"$@\" <&0 &\n  git=$!\n  \
         sleep 0.00{}\n  kill -9 $git\n  kill -9 $$\nfi\nexec {real} \"$@\"\n",
        struck.display(),
        number % 10,
    );
    let program = sandbox.program("bin/git", &script);
    let directory = program.parent().expect("its folder").display().to_string();
    Some(format!("{directory}:{path}"))
}

/// Returns the file that says that git was killed.
pub(crate) fn struck(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join("git-struck")
}

impl RunFiles {
    /// Returns what is known of its worktree, if it had one.
    fn workspace(&self) -> Option<Value> {
        let text = fs::read(self.directory.join("workspace.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
