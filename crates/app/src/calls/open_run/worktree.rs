//! Makes the worktree of a run that is to have one. A task for which it cannot be made is refused:
//! it never works in its caller's checkout instead.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use pi_subagents_delegation::text::count;
use pi_subagents_delegation::{Isolation, Refusal, RunId};
use pi_subagents_files::{create_directories, write_whole};
use pi_subagents_sessions::RunDir;
use pi_subagents_workspaces::{
    Included, LeftOut, NewWorktree, ObjectId, Pin, Repository, Snapshot, WhyLeftOut,
    WorkspaceError, base_of_worktree, copy_included, demand_git, lock_worktree, main_checkout,
    parts, pin,
};

use serde_json::{Value, json};

use crate::runs::workspace::{Workspace, WorkspaceBase, WorkspaceState};

/// The file that tells the child where it is.
const TOLD: &str = "workspace.md";

/// At most so many copied files are named.
const MOST_NAMED: usize = 5;

/// With less room on the disk no worktree is made.
const LEAST_ROOM: u64 = 1_000_000_000;

/// A run that may have to work in a worktree.
pub(super) struct Wish<'a> {
    pub(super) isolation: Isolation,
    pub(super) cwd: &'a Path,
    pub(super) name: &'a str,
    pub(super) run: &'a RunId,
    pub(super) directory: Option<&'a RunDir>,
    pub(super) home: &'a Path,
}

/// A worktree that is ready.
pub(super) struct Isolated {
    /// Where the child works.
    pub(super) cwd: PathBuf,
    /// The file that tells the child about it.
    pub(super) told: PathBuf,
    /// The worktree.
    own: PathBuf,
    /// The caller's checkout and the other worktrees, which the child must not write to.
    left_alone: Vec<PathBuf>,
}

impl Isolated {
    /// Returns the arguments by which the embedded agent leaves the checkout alone.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--own".to_owned(), self.own.display().to_string()];
        for directory in &self.left_alone {
            let directory = directory.display().to_string();
            arguments.extend(["--leave-alone".to_owned(), directory]);
        }
        arguments
    }

    /// Returns the same for the extension of a pi child.
    pub(super) fn guard(&self) -> Value {
        json!({ "own": self.own, "leftAlone": self.left_alone })
    }
}

/// Makes the worktree of a run, or takes the one that it continues in. Returns `None` for a run that
/// works in its caller's checkout.
pub(super) fn isolate(wish: &Wish<'_>) -> Result<Option<Isolated>, Refusal> {
    let continued = wish.continued();
    if wish.isolation == Isolation::None && continued.is_none() {
        return Ok(None);
    }
    let refuse = |why: &dyn std::fmt::Display| Refusal {
        message: format!("Its worktree could not be made: {why}"),
    };
    let Some(directory) = wish.directory else {
        return Err(refuse(&"the run has no directory to note it in"));
    };
    let made = match continued {
        Some((worktree, base)) => wish.go_on(&worktree, &base, directory.path()),
        None => wish.make(directory.path()),
    };
    made.map(Some).map_err(|error| refuse(&error))
}

impl Wish<'_> {
    /// Returns the worktree of an earlier run, if that is where this one works.
    fn continued(&self) -> Option<(Repository, ObjectId)> {
        if !self.cwd.starts_with(folder(self.home)) {
            return None;
        }
        let worktree = Repository::find(self.cwd).ok()?;
        let base = base_of_worktree(&worktree)?;
        Some((worktree, base))
    }

    /// Works on in the worktree of an earlier run.
    fn go_on(
        &self,
        worktree: &Repository,
        base: &ObjectId,
        directory: &Path,
    ) -> Result<Isolated, WorkspaceError> {
        let workspace = Workspace {
            state: WorkspaceState::Ready,
            repository: main_checkout(worktree)?,
            path: worktree.top().to_owned(),
            branch: worktree.branch()?.unwrap_or_default(),
            base: Some(WorkspaceBase {
                commit: base.to_string(),
                uncommitted: 0,
            }),
            left: None,
            notes: Vec::new(),
        };
        let _held = worktree.lock()?;
        written(&workspace, directory)?;
        pin(worktree, self.run.as_str(), Pin::Base, base)?;
        lock_worktree(worktree, worktree.top(), &self.reason())?;
        ready(&workspace, self.cwd.to_owned(), directory)
    }

    fn make(&self, directory: &Path) -> Result<Isolated, WorkspaceError> {
        demand_git()?;
        let repository = Repository::find(self.cwd)?;
        repository.demand_head()?;
        let inside = repository.relative(self.cwd).unwrap_or_default();
        let leaf = format!("{}-{}", plain(self.name), tail(self.run));
        let path = folder(self.home)
            .join(repository_folder(&repository))
            .join(&leaf);
        check_room(self.home)?;
        let mut workspace = Workspace {
            state: WorkspaceState::Planned,
            repository: repository.top().to_owned(),
            branch: format!("pi-subagents/{leaf}"),
            path,
            base: None,
            left: None,
            notes: repository.notes().to_vec(),
        };
        let _held = repository.lock()?;
        written(&workspace, directory)?;
        let snapshot = Snapshot::take(&repository)?;
        pin(&repository, self.run.as_str(), Pin::Base, &snapshot.commit)?;
        workspace.base = Some(WorkspaceBase {
            commit: snapshot.commit.to_string(),
            uncommitted: snapshot.uncommitted.len(),
        });
        written(&workspace, directory)?;
        let wished = NewWorktree {
            path: &workspace.path,
            branch: &workspace.branch,
            base: &snapshot.commit,
            reason: &self.reason(),
        };
        wished.make(&repository)?;
        let included = copy_included(&repository, &workspace.path)?;
        workspace.state = WorkspaceState::Ready;
        workspace
            .notes
            .extend(notes(&repository, &snapshot, &included)?);
        written(&workspace, directory)?;
        let mut cwd = workspace.path.clone();
        // An empty path would add a slash.
        cwd.extend(inside.iter());
        // The directory of the task may hold nothing that git knows.
        create_directories(&cwd).map_err(|error| of_file(&cwd, error))?;
        ready(&workspace, cwd, directory)
    }

    fn reason(&self) -> String {
        format!("pi-subagents {}", self.run)
    }
}

/// Tells the child where it is.
fn ready(
    workspace: &Workspace,
    cwd: PathBuf,
    directory: &Path,
) -> Result<Isolated, WorkspaceError> {
    let told = directory.join(TOLD);
    let text = told_to_child(workspace);
    write_whole(&told, text.as_bytes()).map_err(|error| of_file(&told, error))?;
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let own = real(&workspace.path);
    let others = own.parent().map(Path::to_owned);
    let left_alone = [Some(real(&workspace.repository)), others];
    Ok(Isolated {
        cwd,
        told,
        own,
        left_alone: left_alone.into_iter().flatten().collect(),
    })
}

/// Returns the folder of all worktrees. It is in no project, where tools that look upwards would
/// find the files of the checkout, and in no temporary directory, which others clean.
fn folder(home: &Path) -> PathBuf {
    home.join(".pi/subagent-worktrees")
}

fn repository_folder(repository: &Repository) -> String {
    let name = repository
        .top()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let mut hasher = DefaultHasher::new();
    repository.common_dir().hash(&mut hasher);
    format!("{}-{:08x}", plain(&name), hasher.finish() >> 32)
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
fn tail(run: &RunId) -> &str {
    let id = run.as_str();
    id.get(id.len().saturating_sub(6)..).unwrap_or(id)
}

fn check_room(home: &Path) -> Result<(), WorkspaceError> {
    let found = rustix::fs::statvfs(home).map_err(|error| of_file(home, error.into()))?;
    if found.f_bavail.saturating_mul(found.f_frsize) >= LEAST_ROOM {
        return Ok(());
    }
    let words = "less than 1 GB is free on this disk";
    Err(of_file(home, std::io::Error::other(words)))
}

fn written(workspace: &Workspace, directory: &Path) -> Result<(), WorkspaceError> {
    workspace
        .write(directory)
        .map_err(|error| of_file(directory, error))
}

fn of_file(path: &Path, source: std::io::Error) -> WorkspaceError {
    let path = path.to_owned();
    WorkspaceError::File { path, source }
}

/// Says what the checkout has and the worktree has not.
fn notes(
    repository: &Repository,
    snapshot: &Snapshot,
    included: &Included,
) -> Result<Vec<String>, WorkspaceError> {
    let mut notes: Vec<String> = snapshot.left_out.iter().map(left_out).collect();
    let submodules = parts(repository)?;
    notes.extend(
        submodules
            .iter()
            .skip(1)
            .map(|part| format!("the submodule {} is empty here", part.path.display())),
    );
    notes.extend(included.notes.iter().cloned());
    if !included.copied.is_empty() {
        let names = included.copied.iter().take(MOST_NAMED);
        let names: Vec<String> = names.map(|name| name.display().to_string()).collect();
        let more = match included.copied.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.join(", ");
        notes.push(format!(
            "copied, because .worktreeinclude names them: {names}{more}"
        ));
    }
    Ok(notes)
}

fn left_out(left: &LeftOut) -> String {
    let path = left.path.display();
    match left.why {
        WhyLeftOut::TooLarge { bytes } => {
            let megabytes = bytes / 1_000_000;
            format!("{path} is not here: it is untracked and has {megabytes} MB")
        }
        WhyLeftOut::NestedRepository => {
            format!("{path} is not here: it is a repository of its own")
        }
    }
}

fn told_to_child(workspace: &Workspace) -> String {
    let (path, branch) = (workspace.path.display(), &workspace.branch);
    let project = workspace.repository.display();
    let begun = workspace.base.as_ref().map(|base| {
        let commit = base.commit.get(..8).unwrap_or_default();
        match base.uncommitted {
            0 => format!("It began from the commit {commit}."),
            files => {
                let files = count(files, "uncommitted file");
                format!("It began from your caller's checkout, with {files}.")
            }
        }
    });
    let mut lines = vec![
        "# Your worktree\n".to_owned(),
        format!("You work in a git worktree of your own: {path}, on the branch {branch}."),
    ];
    lines.extend(begun);
    lines.push(format!(
        "The checkout at {project} is your caller's. Change nothing there: a path below it means the \
         same path below {path}."
    ));
    lines.push("You may commit or not; both are kept and shown to your caller.".to_owned());
    lines.push(
        "Files that git ignores, such as build output and installed packages, are not here unless a \
         line below says so."
            .to_owned(),
    );
    lines.extend(workspace.notes.iter().map(|note| format!("- {note}")));
    lines.join("\n") + "\n"
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
