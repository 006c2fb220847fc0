//! Finds the results of runs in git: the base and the result of a run, wherever it worked.

use pi_subagents_vocabulary::Advice;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use pi_subagents_git::{Change, LargeUntracked, ObjectId, Pins, Repository, WorkspaceError, patch};
use pi_subagents_records::{IndexedRun, RecordedRun, RunDir};
use pi_subagents_view::{Line, Role};

use crate::no_result::NoResult;
use crate::workspace::{Workspace, settle};
use pi_subagents_ground::error::CommandError;

/// A run with the change that it made.
pub struct RunResult {
    pub run: IndexedRun,
    pub repository: Repository,
    pub change: Change,
    /// True if somebody has merged this result.
    pub is_merged: bool,
    /// Its worktree, or the note about its result in a fleet.
    pub workspace: Option<Workspace>,
    /// The directories of earlier runs whose result it holds.
    pub(crate) earlier: Vec<PathBuf>,
}

/// The result of a run that was asked for, or the reason why there is none.
pub type AskedResult = Result<RunResult, NoResult>;

/// Finds results. Each repository is looked at once, however many runs have worked on it.
#[derive(Default)]
pub struct Results {
    /// The directory of a person who may mean what a run left in this very repository: in a
    /// submodule of its project, or in a clone on another machine than the caller's.
    here: Option<PathBuf>,
    repositories: HashMap<PathBuf, Option<Pinned>>,
}

/// A repository with the pins of all its runs, by their ids.
type Pinned = (Repository, BTreeMap<String, Pins>);

impl Results {
    /// Finds results for a person in a directory.
    pub fn here(directory: &Path) -> Self {
        Self {
            here: Some(directory.to_owned()),
            ..Self::default()
        }
    }

    /// Finds the result of the latest of some runs that has one.
    pub(crate) fn of_latest(&mut self, runs: &[IndexedRun]) -> Result<AskedResult, CommandError> {
        let mut without = None;
        for run in runs.iter().rev() {
            match self.of(run)? {
                Ok(result) => return Ok(Ok(result.with_earlier(runs))),
                Err(why) => _ = without.get_or_insert(why),
            }
        }
        let without = without.ok_or_else(|| CommandError::not_found("there is no such run"));
        without.map(Err)
    }

    /// Finds the results of a conversation that wait, oldest first, or the latest result if none
    /// waits. Runs in one worktree have one result, and so have runs of a fleet that began from each
    /// other's results.
    pub fn of_conversation(
        &mut self,
        runs: &[IndexedRun],
    ) -> Result<Vec<AskedResult>, CommandError> {
        let latest = self.of_latest(runs)?;
        let Ok(result) = &latest else {
            return Ok(vec![latest]);
        };
        let before = runs
            .iter()
            .take_while(|run| run.run != result.run.run)
            .filter(|run| !result.earlier.iter().any(|one| one == run.directory.path()));
        let mut waiting: Vec<AskedResult> = Vec::new();
        for run in before {
            let asked = self.of(run)?;
            waiting.extend(asked.ok().filter(RunResult::waits).map(Ok));
        }
        if waiting.is_empty() || result.waits() {
            waiting.push(latest);
        }
        Ok(waiting)
    }

    /// Finds the result of a run.
    fn of(&mut self, run: &IndexedRun) -> Result<AskedResult, CommandError> {
        if run.is_open() {
            let wait = Advice::Wait(run.run.to_string());
            let does = " returns when it has ended.";
            return Ok(Err(NoResult::is_running(run, wait, does)));
        }
        let workspace = settle(run.directory.path(), &run.run);
        if let Some(result) = self.left_here(run, workspace.as_ref())? {
            return Ok(Ok(result));
        }
        let Some((repository, pins)) = self.repository_of(run, workspace.as_ref())? else {
            return Ok(Err(NoResult::of(run, workspace.as_ref())));
        };
        let read = pins.get(run.run.as_str());
        let pins = match read.filter(|pins| pins.result.is_some()) {
            Some(pins) => pins.clone(),
            // It may have been captured a moment ago.
            None => Pins::read(repository, run.run.as_str()).map_err(|error| failed(&error))?,
        };
        let is_merged = !pins.is_unmerged();
        let (Some(base), Some(result)) = (pins.base, pins.result) else {
            return Ok(Err(NoResult::of(run, workspace.as_ref())));
        };
        Ok(Ok(RunResult {
            run: run.clone(),
            repository: repository.clone(),
            change: Change { base, result },
            is_merged,
            workspace,
            earlier: Vec::new(),
        }))
    }

    /// Finds what a run left in the repository of the person's directory, if that is another one
    /// than the run's own.
    fn left_here(
        &mut self,
        run: &IndexedRun,
        workspace: Option<&Workspace>,
    ) -> Result<Option<RunResult>, CommandError> {
        let Some(here) = self.here.clone() else {
            return Ok(None);
        };
        let own = self.repository_of(run, workspace)?;
        let own = own.map(|(repository, _)| repository.common_dir().to_owned());
        let Some((repository, pins)) = self.look_at(&here)? else {
            return Ok(None);
        };
        let pins = pins.get(run.run.as_str());
        let is_own = own.as_deref() == Some(repository.common_dir());
        let Some(pins) = pins.filter(|_| !is_own) else {
            return Ok(None);
        };
        let (Some(base), Some(result)) = (&pins.base, &pins.result) else {
            return Ok(None);
        };
        Ok(Some(RunResult {
            run: run.clone(),
            repository: repository.clone(),
            change: Change {
                base: base.clone(),
                result: result.clone(),
            },
            is_merged: !pins.is_unmerged(),
            // The worktree of the run, if it had one, is that of its own repository.
            workspace: None,
            earlier: Vec::new(),
        }))
    }

    /// Finds the repository that a run worked on, with what is kept there of all runs.
    fn repository_of(
        &mut self,
        run: &IndexedRun,
        workspace: Option<&Workspace>,
    ) -> Result<Option<&Pinned>, CommandError> {
        let mut places = Vec::new();
        if let Some(workspace) = workspace {
            places.push(workspace.repository.clone());
        } else {
            let recorded = RecordedRun::read(&run.directory).ok();
            places.extend(recorded.map(|recorded| recorded.task.cwd.clone()));
            places.push(run.project.clone());
        }
        for place in &places {
            self.look_at(place)?;
        }
        let mut found = places
            .iter()
            .filter_map(|place| self.repositories.get(place));
        Ok(found.find_map(Option::as_ref))
    }

    /// Looks at the repository of a directory, unless that was done before.
    fn look_at(&mut self, directory: &Path) -> Result<Option<&Pinned>, CommandError> {
        if !self.repositories.contains_key(directory) {
            let found = look_at(directory).map_err(|error| failed(&error))?;
            self.repositories.insert(directory.to_owned(), found);
        }
        Ok(self.repositories.get(directory).and_then(Option::as_ref))
    }
}

/// Looks at the repository of a directory; `None` if there is none.
fn look_at(directory: &Path) -> Result<Option<Pinned>, WorkspaceError> {
    let Ok(repository) = Repository::find(directory) else {
        return Ok(None);
    };
    let pins = Pins::read_all(&repository)?;
    Ok(Some((repository, pins)))
}

impl RunResult {
    /// Returns the records of the runs that have worked on it.
    pub(crate) fn records(&self) -> Vec<RunDir> {
        let earlier = self.earlier.iter().map(RunDir::new);
        earlier.chain([self.run.directory.clone()]).collect()
    }

    /// Finds the result of the latest of some runs that has one.
    pub fn of_latest(runs: &[IndexedRun]) -> Result<Self, CommandError> {
        Ok(Results::default().of_latest(runs)??)
    }

    /// Captures the result once more, with its large untracked files, if it has left some out.
    pub(crate) fn take_large_files(&mut self) -> Result<(), WorkspaceError> {
        let Some(workspace) = &mut self.workspace else {
            return Ok(());
        };
        let has_large = workspace.left_out.iter().any(|file| file.bytes.is_some());
        let Some(worktree) = workspace.worktree.clone().filter(|_| has_large) else {
            return Ok(());
        };
        let (directory, run) = (self.run.directory.path(), &self.run.run);
        workspace.capture_again(&worktree, directory, run, LargeUntracked::Taken)?;
        // If it cannot be written, it is captured again by the next who asks for it.
        _ = workspace.write(directory);
        let left = workspace.left.as_ref();
        if let Some(result) = left.and_then(|left| ObjectId::parse(&left.result)) {
            self.change.result = result;
        }
        Ok(())
    }

    /// Returns whether nobody has merged or discarded it.
    pub(crate) fn waits(&self) -> bool {
        let workspace = self.workspace.as_ref();
        workspace.map_or(!self.is_merged, Workspace::is_unmerged)
    }

    /// Returns the patch of the run as a text.
    pub fn patch_text(&self) -> Result<String, CommandError> {
        let Change { base, result } = &self.change;
        let found = patch(&self.repository, base, result).map_err(|error| failed(&error))?;
        let Some(text) = found else {
            let top = self.repository.top().display();
            let stat = Advice::DiffStat(self.run.run.to_string());
            let or = format!(", or git diff {base} {result} in {top}.");
            let error = CommandError::failed("the patch has more than 20 MB");
            return Err(error.advise("Use ", stat, or));
        };
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns the patch of the run in colours, as somebody reads it: without the names of objects,
    /// which only git needs.
    pub fn patch_lines(&self) -> Result<Vec<Line>, CommandError> {
        let text = self.patch_text()?;
        let lines = text.lines().filter(|line| !line.starts_with("index "));
        Ok(lines.map(painted).collect())
    }

    /// Finds the other runs of the conversation whose result it holds: they worked in the same
    /// worktree, or it began from their result.
    pub fn with_earlier(mut self, runs: &[IndexedRun]) -> Self {
        let mut holders: Vec<Workspace> = self.workspace.iter().cloned().collect();
        for run in runs.iter().rev().filter(|run| run.run != self.run.run) {
            let Some(workspace) = Workspace::read(run.directory.path()) else {
                continue;
            };
            if holders.iter().any(|later| later.holds(&workspace)) {
                self.earlier.push(run.directory.path().to_owned());
                holders.push(workspace);
            }
        }
        self
    }
}

/// Colours a line of a patch by its beginning.
pub fn painted(line: &str) -> Line {
    let role = if ["+++", "---", "diff "]
        .iter()
        .any(|begin| line.starts_with(begin))
    {
        Role::Strong
    } else if line.starts_with('+') {
        Role::Added
    } else if line.starts_with('-') {
        Role::Removed
    } else if line.starts_with("@@") {
        Role::Muted
    } else {
        Role::Plain
    };
    Line::new(role, line)
}

/// Returns the error of a command that git could not help with.
pub fn failed(error: &WorkspaceError) -> CommandError {
    CommandError::failed(error.to_string())
}
