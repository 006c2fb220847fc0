//! The worktree of a run that is to have one. First it is planned, then the run is recorded, and then
//! the worktree is made, so that whoever comes after a crash knows of it. A task for which it cannot
//! be made is refused: it never works in its caller's checkout instead.

mod continuation;
mod notes;
mod paths;
mod ports;

use std::path::{Path, PathBuf};

use pi_subagents_configuration::{SubmoduleChoice, Trust, WorktreeSettings};
use pi_subagents_files::{create_directories, write_whole};
use pi_subagents_git::{
    AddedSubmodules, FilterTrust, NewWorktree, ObjectId, Pin, Repository, Snapshot, WorkspaceError,
    add_submodules, copy_included, demand_git, name_submodules, pin,
};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{BaseChoice, Refusal, RunId, Setup};
use serde_json::{Value, json};

use self::notes::{child_note, left_out, named_copies};
use self::paths::{branch_of, check_room, leaf, repository_folder};
use self::ports::claim_ports;
use crate::resolve::{RunPlace, commit_of_base, no_worktree};
use pi_subagents_runs::workspace::{
    EarlierWorktree, Submodule, Workspace, WorkspaceBase, WorkspaceState, Worktree, note_checkout,
    note_unsettled, worktrees_folder,
};

/// The file that tells the child where it is.
const TOLD: &str = "workspace.md";

/// A run that may have to work in a worktree.
pub(super) struct Wish<'a> {
    pub(super) place: &'a RunPlace,
    pub(super) cwd: &'a Path,
    pub(super) name: &'a str,
    pub(super) run: &'a RunId,
    pub(super) directory: Option<&'a RunDir>,
    pub(super) home: &'a Path,
    pub(super) agent_dir: &'a Path,
    pub(super) settings: &'a WorktreeSettings,
}

/// A worktree that is going to be made, or gone on in.
pub(super) struct PlannedWorktree {
    pub(super) isolated: Isolated,
    /// The directory of the run.
    directory: PathBuf,
    run: RunId,
    /// The checkout that it is a worktree of.
    repository: Repository,
    worktree: Worktree,
    workspace: Workspace,
    beginning: Beginning,
    settings: WorktreeSettings,
    agent_dir: PathBuf,
}

/// The beginning of a worktree.
enum Beginning {
    /// From a state of the checkout.
    New(BaseChoice),
    /// From what an earlier run left, whose directory is gone.
    Anew {
        result: ObjectId,
        /// The state of the checkout that is merged into it first.
        onto: Option<ObjectId>,
    },
    /// As an earlier run left it.
    There {
        /// The state of the checkout that is merged into it first.
        onto: Option<ObjectId>,
    },
}

/// A worktree, as far as its child must know it.
pub(super) struct Isolated {
    /// The directory in which the child works.
    pub(super) cwd: PathBuf,
    /// The file that tells the child about it.
    pub(super) told: PathBuf,
    /// The worktree.
    own: PathBuf,
    /// The caller's checkout, its repository and the other worktrees, which the child must not write to.
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

/// Plans the worktree of a run. Returns `None` for a run that works in its caller's checkout.
/// Nothing of git is changed.
pub(super) fn plan(wish: &Wish<'_>) -> Result<Option<PlannedWorktree>, Refusal> {
    let RunPlace::Worktree { base, earlier } = wish.place else {
        return Ok(None);
    };
    let Some(directory) = wish.directory else {
        return Err(no_worktree(&"the run has no directory to note it in"));
    };
    let planned = match earlier {
        Some(earlier) => wish.plan_again(earlier, base, directory.path()),
        None => wish.plan_new(base, directory.path()),
    };
    planned.map(Some).map_err(|error| no_worktree(&error))
}

impl Wish<'_> {
    /// Lets filters of a repository run if the user trusts its project.
    fn with_trust(&self, repository: Repository) -> Result<Repository, WorkspaceError> {
        if self.trusts(&repository) {
            return repository.with_filters(FilterTrust::Repository);
        }
        Ok(repository)
    }

    fn trusts(&self, repository: &Repository) -> bool {
        let (trust, _) = Trust::read(self.agent_dir);
        trust.of(repository.top()).is_trusted()
    }

    fn plan_new(
        &self,
        base: &BaseChoice,
        directory: &Path,
    ) -> Result<PlannedWorktree, WorkspaceError> {
        demand_git()?;
        let repository = self.with_trust(Repository::find(self.cwd)?)?;
        let leaf = leaf(self.name, self.run);
        let folder = worktrees_folder(self.home, self.settings.directory.as_deref());
        let path = folder.join(repository_folder(&repository)).join(&leaf);
        let branch = branch_of(&repository, &leaf)?;
        let git_dir = None;
        self.planned(
            repository,
            Worktree {
                path,
                branch,
                git_dir,
            },
            Beginning::New(base.clone()),
            directory,
        )
    }

    fn planned(
        &self,
        repository: Repository,
        worktree: Worktree,
        beginning: Beginning,
        directory: &Path,
    ) -> Result<PlannedWorktree, WorkspaceError> {
        repository.demand_head()?;
        let above = worktree.path.parent().unwrap_or(&worktree.path);
        create_directories(above).map_err(|error| of_file(above, error))?;
        if !matches!(beginning, Beginning::There { .. }) {
            check_room(above, &repository)?;
        }
        let workspace = Workspace {
            worktree: Some(worktree.clone()),
            notes: repository.notes().to_vec(),
            is_trusted: self.trusts(&repository),
            ..Workspace::of(&repository, self.cwd, WorkspaceState::Planned)
        };
        Ok(PlannedWorktree {
            isolated: isolated(&worktree, &repository, &workspace.inside, directory),
            directory: directory.to_owned(),
            run: self.run.clone(),
            repository,
            worktree,
            workspace,
            beginning,
            settings: self.settings.clone(),
            agent_dir: self.agent_dir.to_owned(),
        })
    }
}

/// Returns what a child must know of a worktree, whether or not it is there yet.
fn isolated(
    worktree: &Worktree,
    repository: &Repository,
    inside: &Path,
    directory: &Path,
) -> Isolated {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let above = worktree.path.parent().map(real);
    let name = worktree.path.file_name();
    let own = match (&above, name) {
        (Some(above), Some(name)) => above.join(name),
        (Some(_) | None, _) => worktree.path.clone(),
    };
    let mut cwd = worktree.path.clone();
    // An empty path would add a slash.
    cwd.extend(inside.iter());
    // The directory of git is elsewhere if the checkout is itself a worktree, and beside it is the
    // checkout of which it is one.
    let (top, git_dir) = (real(repository.top()), real(repository.common_dir()));
    let main = git_dir.parent().filter(|_| git_dir.ends_with(".git"));
    let main = main.filter(|main| *main != top).map(Path::to_owned);
    let left_alone = [Some(top), Some(git_dir), main, above];
    Isolated {
        cwd,
        told: directory.join(TOLD),
        own,
        left_alone: left_alone.into_iter().flatten().collect(),
    }
}

impl PlannedWorktree {
    /// Makes the worktree, or takes the one that is there, and tells the child about it. Returns the
    /// command that prepares a new one.
    pub(super) fn make(self) -> Result<Option<Setup>, Refusal> {
        self.try_make().map_err(|error| no_worktree(&error))
    }

    fn try_make(mut self) -> Result<Option<Setup>, WorkspaceError> {
        self.repository = self.repository.locked()?;
        let noted = note_unsettled(&self.agent_dir, &self.run, &self.directory);
        self.workspace.note = Some(noted.map_err(|error| of_file(&self.agent_dir, error))?);
        match &self.beginning {
            Beginning::New(base) => self.begin(&base.clone())?,
            Beginning::Anew { result, onto } => {
                let (result, onto) = (result.clone(), onto.clone());
                self.begin_anew(&result, onto.as_ref())?;
            }
            Beginning::There { onto } => self.go_on(onto.clone().as_ref())?,
        }
        // The directory of the task may hold nothing that git knows.
        let cwd = &self.isolated.cwd;
        create_directories(cwd).map_err(|error| of_file(cwd, error))?;
        let told = &self.isolated.told;
        let text = child_note(&self.worktree, &self.workspace);
        write_whole(told, text.as_bytes()).map_err(|error| of_file(told, error))?;
        self.setup()
    }

    /// Returns the command of the user that prepares a new worktree.
    fn setup(&self) -> Result<Option<Setup>, WorkspaceError> {
        let command = match (&self.settings.setup, &self.beginning) {
            (Some(command), Beginning::New(_) | Beginning::Anew { .. }) => command.clone(),
            (Some(_), Beginning::There { .. }) | (None, _) => return Ok(None),
        };
        let folder = self.worktree.path.parent().and_then(Path::parent);
        let folder = folder.unwrap_or(&self.worktree.path);
        let ports =
            claim_ports(folder, &self.worktree.path).map_err(|error| of_file(folder, error))?;
        let text = |path: &Path| path.display().to_string();
        Ok(Some(Setup {
            command,
            variables: vec![
                ("PI_SUBAGENTS_PROJECT", text(&self.workspace.repository)),
                ("PI_SUBAGENTS_WORKTREE", text(&self.worktree.path)),
                ("PI_SUBAGENTS_PORT_BASE", ports.to_string()),
            ],
        }))
    }

    /// Makes a new worktree from a state of the checkout.
    fn begin(&mut self, base: &BaseChoice) -> Result<(), WorkspaceError> {
        self.written()?;
        let commit = match base {
            BaseChoice::Working => self.take_snapshot()?,
            BaseChoice::Head => self.repository.demand_head()?,
            BaseChoice::Revision(revision) => commit_of_base(&self.repository, revision)?,
        };
        self.workspace.base.get_or_insert(WorkspaceBase {
            commit: commit.to_string(),
            uncommitted: 0,
            is_moved: false,
        });
        pin(&self.repository, self.run.as_str(), Pin::Base, &commit)?;
        self.written()?;
        self.add(&commit)
    }

    fn take_snapshot(&mut self) -> Result<ObjectId, WorkspaceError> {
        let snapshot = Snapshot::take(&self.repository)?;
        self.workspace.base = Some(WorkspaceBase {
            commit: snapshot.commit.to_string(),
            uncommitted: snapshot.uncommitted.len(),
            is_moved: false,
        });
        let missing = snapshot.left_out.iter().map(left_out);
        self.workspace.notes.extend(missing);
        Ok(snapshot.commit)
    }

    /// Makes the directory from a commit, with everything that belongs to it.
    fn add(&mut self, commit: &ObjectId) -> Result<(), WorkspaceError> {
        let wished = NewWorktree {
            path: &self.worktree.path,
            branch: &self.worktree.branch,
            base: commit,
            reason: &self.reason(),
        };
        let worktree = wished.make(&self.repository)?;
        self.worktree.git_dir = Some(worktree.git_dir().to_owned());
        self.workspace.worktree = Some(self.worktree.clone());
        self.add_submodules(&worktree)?;
        let included = copy_included(&self.repository, &self.worktree.path)?;
        self.workspace.notes.extend(included.notes);
        self.workspace.notes.extend(named_copies(&included.copied));
        self.workspace.included = included.copied;
        note_checkout(&self.repository, &self.directory)?;
        self.workspace.state = WorkspaceState::Ready;
        self.written()
    }

    fn add_submodules(&mut self, worktree: &Repository) -> Result<(), WorkspaceError> {
        let AddedSubmodules { added, notes } = match self.settings.submodules {
            SubmoduleChoice::Local => add_submodules(&self.repository, worktree, &self.reason())?,
            SubmoduleChoice::None => AddedSubmodules {
                added: Vec::new(),
                notes: name_submodules(worktree)?,
            },
        };
        self.workspace.notes.extend(notes);
        let added = added.into_iter().map(|submodule| Submodule {
            path: submodule.path,
            base: submodule.base.to_string(),
            git_dir: submodule.git_dir,
        });
        self.workspace.submodules = added.collect();
        Ok(())
    }

    fn reason(&self) -> String {
        format!("pi-subagents {}", self.run)
    }

    fn written(&self) -> Result<(), WorkspaceError> {
        let written = self.workspace.write(&self.directory);
        written.map_err(|error| of_file(&self.directory, error))
    }
}

fn of_file(path: &Path, source: std::io::Error) -> WorkspaceError {
    let path = path.to_owned();
    WorkspaceError::File { path, source }
}
