//! From a policy and the files of this machine to a plan: what is laid over which path, and where
//! the child may write. Nothing is changed, except that a directory for hooks is made where there is
//! none, because only what exists can be guarded.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use pi_subagents_vocabulary::{NetworkReach, SandboxLevel};

use crate::cover::{Cover, Covers};
use crate::git_places::{self, GitPlaces};
use crate::order::ConfineOrder;
use crate::step::{ConfineFailure, ConfineStep};

/// Names in a project that other programs obey.
pub(crate) const OBEYED_NAMES: [&str; 8] = [
    ".pi",
    ".agents",
    ".claude",
    ".codex",
    ".vscode",
    ".idea",
    ".mcp.json",
    ".envrc",
];

/// The directories that are empty for the child, and its own.
const PRIVATE: [&str; 2] = ["/tmp", "/dev/shm"];

/// The devices that every program may use.
const DEVICES: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];

/// Everything that is done to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePlan {
    /// The directory of the child, without links.
    pub(crate) cwd: PathBuf,
    /// What is laid over the files.
    pub(crate) covers: Covers,
    /// The paths below which the child may write, devices among them.
    pub(crate) writable: Vec<PathBuf>,
    /// Paths that are not there, and that other programs would obey.
    pub(crate) missing: Vec<PathBuf>,
    /// The hidden paths that are there.
    pub(crate) hidden: Vec<PathBuf>,
    /// The directories of the run itself.
    pub(crate) own: Vec<PathBuf>,
}

impl FilePlan {
    /// Returns where the child may write if nothing can be laid over the files: nowhere that
    /// belongs to somebody else too.
    pub(crate) fn writable_without_covers(&self) -> Vec<PathBuf> {
        let own = self.own.iter().cloned();
        own.chain(DEVICES.map(PathBuf::from)).collect()
    }
}

/// Returns whether the child has a network of its own.
pub(crate) fn has_own_network(network: &NetworkReach) -> bool {
    match network {
        NetworkReach::Full => false,
        NetworkReach::Hosts(_) | NetworkReach::Model | NetworkReach::None => true,
    }
}

/// Makes the plan.
pub(crate) fn make(
    order: &ConfineOrder,
    path_variable: &[PathBuf],
) -> Result<FilePlan, ConfineFailure> {
    let cwd = real(&order.cwd)?;
    let home = fs::canonicalize(&order.confinement.home);
    let home = home.unwrap_or_else(|_| order.confinement.home.clone());
    let git = git_places::find(&cwd, &home).map_err(|error| at(&cwd, &error))?;
    let mut planner = Planner {
        order,
        hidden: existing_hidden(order),
        cwd,
        home,
        covers: Covers::default(),
        missing: Vec::new(),
    };
    planner.lay_private();
    planner.lay_hidden();
    planner.lay_visible(&git)?;
    match order.sandbox.level {
        SandboxLevel::WorkspaceWrite => planner.lay_workspace(git, path_variable)?,
        SandboxLevel::ReadOnly | SandboxLevel::Off => {}
    }
    planner.lay_overlays();
    planner.lay_own()?;
    let mut writable = planner.covers.writable();
    writable.extend(DEVICES.map(PathBuf::from));
    Ok(FilePlan {
        cwd: planner.cwd,
        covers: planner.covers,
        writable,
        missing: planner.missing,
        hidden: planner.hidden,
        own: order.confinement.writable.clone(),
    })
}

struct Planner<'a> {
    order: &'a ConfineOrder,
    cwd: PathBuf,
    home: PathBuf,
    hidden: Vec<PathBuf>,
    covers: Covers,
    missing: Vec<PathBuf>,
}

impl Planner<'_> {
    fn lay_private(&mut self) {
        for path in PRIVATE {
            if let Ok(path) = fs::canonicalize(path) {
                self.covers.lay(path, Cover::Private);
            }
        }
        if Path::new("/dev/pts").is_dir() {
            self.covers.lay("/dev/pts".into(), Cover::Terminals);
        }
    }

    fn lay_hidden(&mut self) {
        for path in &self.hidden {
            let cover = if path.is_dir() {
                Cover::HiddenDirectory
            } else {
                Cover::HiddenFile
            };
            self.covers.lay(path.clone(), cover);
        }
    }

    /// Places paths again that the child must see, and that lie below a hidden or a private
    /// directory.
    fn lay_visible(&mut self, git: &GitPlaces) -> Result<(), ConfineFailure> {
        let is_hidden = self
            .hidden
            .iter()
            .any(|hidden| self.cwd.starts_with(hidden));
        // A worker hides the directories of all its runs, and shows each run its own.
        if is_hidden && !self.order.confinement.visible.contains(&self.cwd) {
            let cwd = self.cwd.display();
            return Err(ConfineFailure::refused(format!(
                "{cwd} is among the files that a sandbox hides; name it in sandboxReadable, or work elsewhere."
            )));
        }
        let confinement = &self.order.confinement;
        let mut visible = vec![self.cwd.clone(), self.home.clone()];
        visible.extend(confinement.visible.iter().cloned());
        visible.push(confinement.agent_directory.clone());
        visible.extend(git.writable.iter().cloned());
        visible.extend(self.repository_root());
        for path in visible {
            let Ok(path) = fs::canonicalize(path) else {
                continue;
            };
            // The private directories stay so, whoever works or lives in one or has a repository there.
            if PRIVATE.iter().any(|private| path == Path::new(private)) {
                continue;
            }
            if self.covers.is_hidden(&path) && !self.hidden.contains(&path) {
                self.covers.lay(path, Cover::ReadOnly);
            }
        }
        Ok(())
    }

    /// Returns the directory with the `.git` of the child's directory. Programs leave empty
    /// directories of this name behind, which are no repositories.
    fn repository_root(&self) -> Option<PathBuf> {
        let is_root = |above: &&Path| {
            let git = above.join(".git");
            git.is_file() || git.join("HEAD").exists()
        };
        self.cwd.ancestors().find(is_root).map(Path::to_owned)
    }

    fn lay_workspace(
        &mut self,
        git: GitPlaces,
        path_variable: &[PathBuf],
    ) -> Result<(), ConfineFailure> {
        self.check_workspace()?;
        self.covers.lay(self.cwd.clone(), Cover::Writable);
        let mut roots = vec![self.cwd.clone()];
        for path in &self.order.confinement.widened {
            // A path that is not there gives nothing away.
            if let Ok(path) = fs::canonicalize(path) {
                self.check_writable(&path, path_variable)?;
                self.covers.lay(path.clone(), Cover::Writable);
                roots.push(path);
            }
        }
        self.lay_git(git)?;
        for root in roots.iter().skip(1) {
            if root.join(".git").exists() {
                let git = git_places::find(root, &self.home);
                self.lay_git(git.map_err(|error| at(root, &error))?)?;
            }
        }
        for name in OBEYED_NAMES {
            for root in &roots {
                self.guard(&root.join(name))?;
            }
        }
        Ok(())
    }

    /// Lays the directories in which the child may write what vanishes with it.
    fn lay_overlays(&mut self) {
        for path in &self.order.confinement.overlays {
            let path = fs::canonicalize(path).ok();
            if let Some(path) = path.filter(|path| path.is_dir() && !self.covers.is_hidden(path)) {
                self.covers.lay(path, Cover::Overlay);
            }
        }
    }

    fn check_workspace(&self) -> Result<(), ConfineFailure> {
        let cwd = self.cwd.display();
        let what = if self.cwd == Path::new("/") {
            "is the root of the file system"
        } else if self.cwd == self.home {
            "is your home"
        } else if self.home.starts_with(&self.cwd) {
            "holds your home"
        } else {
            return Ok(());
        };
        Err(ConfineFailure::refused(format!(
            "workspace-write needs a project directory; {cwd} {what}."
        )))
    }

    fn check_writable(&self, path: &Path, path_variable: &[PathBuf]) -> Result<(), ConfineFailure> {
        let agent_directory = &self.order.confinement.agent_directory;
        let holds = |other: &Path| other.starts_with(path);
        let hidden = self.hidden.iter();
        let what = if holds(&self.home) {
            "your home"
        } else if holds(agent_directory) || path.starts_with(agent_directory) {
            "your agent directory"
        } else if hidden
            .clone()
            .any(|hidden| holds(hidden) || path.starts_with(hidden))
        {
            "files that a sandbox hides"
        } else if path_variable.iter().any(|directory| holds(directory)) {
            "programs that your PATH finds"
        } else {
            return Ok(());
        };
        Err(ConfineFailure::refused(format!(
            "sandboxWritable names {}, which holds {what}; name a directory that does not.",
            path.display()
        )))
    }

    fn lay_git(&mut self, git: GitPlaces) -> Result<(), ConfineFailure> {
        for path in git.writable {
            self.covers.lay(path, Cover::Writable);
        }
        if let Some(hooks) = git.hooks.filter(|hooks| !hooks.exists()) {
            fs::create_dir(&hooks).map_err(|error| at(&hooks, &error))?;
        }
        for file in git.needed {
            let made = fs::File::options().append(true).create(true).open(&file);
            made.map_err(|error| at(&file, &error))?;
        }
        for path in git.guarded {
            self.guard(&path)?;
        }
        self.missing.extend(git.missing);
        Ok(())
    }

    /// Guards a path against changes, if the child could change it.
    fn guard(&mut self, path: &Path) -> Result<(), ConfineFailure> {
        let path = lexical(path);
        let is_in_reach =
            |covers: &Covers, path: &Path| covers.over(path).is_some_and(Cover::is_writable);
        if fs::symlink_metadata(&path).is_err() {
            if is_in_reach(&self.covers, &path) {
                self.missing.push(path);
            }
            return Ok(());
        }
        let real = fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from("/"));
        if real != path && is_in_reach(&self.covers, &path) {
            return Err(ConfineFailure::refused(format!(
                "{} is a symbolic link, or lies behind one, and cannot be protected.",
                path.display()
            )));
        }
        if is_in_reach(&self.covers, &real) {
            self.covers.lay(real, Cover::ReadOnly);
        }
        Ok(())
    }

    /// Lays the directories that belong to the run.
    fn lay_own(&mut self) -> Result<(), ConfineFailure> {
        for path in &self.order.confinement.writable {
            let path = real(path)?;
            self.covers.lay(path, Cover::Writable);
        }
        Ok(())
    }
}

/// Returns the hidden paths that are there. Whoever cannot look at one cannot read it either.
fn existing_hidden(order: &ConfineOrder) -> Vec<PathBuf> {
    let paths = order.confinement.hidden.iter();
    let mut paths: Vec<_> = paths
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    paths.retain(|path| path != Path::new("/"));
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn real(path: &Path) -> Result<PathBuf, ConfineFailure> {
    fs::canonicalize(path).map_err(|error| at(path, &error))
}

fn at(path: &Path, error: &io::Error) -> ConfineFailure {
    ConfineFailure::new(ConfineStep::Plan, error).at(path)
}

/// Takes `.` and `..` out of a path without looking at the disk.
fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}
