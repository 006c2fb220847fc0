//! The directories in which runs are kept, and the ways of finding runs again.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files as files;
use pi_subagents_vocabulary::{
    Ending, Interruption, ModelChoice, RunId, RunTerms, Task, Timestamp,
};

use crate::finder::Finder;
use crate::format::{FORMAT, Meta};
use crate::id_lookup::FindError;
use crate::index::{self, IndexedRun, RemovedRun, RunState, Survey, SurveyDepth};
use crate::run_dir::RunDir;
use crate::seal::Seal;
use crate::{OwnerName, runs_place, sequence};

/// The records of this user.
#[derive(Debug, Clone)]
pub struct Store {
    agent_dir: PathBuf,
    /// The directory in which runs are kept, instead of their project.
    runs_dir: Option<PathBuf>,
}

/// The facts about a run that are written down before it starts.
#[derive(Debug, Clone)]
pub struct NewRun<'a> {
    /// The task of the run.
    pub task: &'a Task,
    /// The project its owner was started in.
    pub project: &'a Path,
    /// The process that owns the run.
    pub owner: &'a OwnerName,
    /// The kind of child that will do the run, unless the run was refused.
    pub runner: Option<&'a str>,
    /// The model that its child is started with.
    pub model: Option<&'a str>,
    /// The tools it is restricted to.
    pub tools: Option<Vec<String>>,
    /// The terms that its call has set.
    pub terms: Option<&'a RunTerms>,
    /// The system prompt of the child, and the file that holds it.
    pub system_prompt: Option<(&'a str, &'a Path)>,
    /// The agent whose sticky session it was asked to continue, if any.
    pub sticky_agent: Option<&'a str>,
}

/// The reason why a run has no record.
#[derive(Debug, thiserror::Error)]
#[error("could not write {path}")]
pub struct BeginError {
    path: String,
    source: io::Error,
}

impl Store {
    /// Makes the store of the user whose agent directory this is.
    pub fn new(agent_dir: impl Into<PathBuf>) -> Self {
        Self {
            agent_dir: agent_dir.into(),
            runs_dir: None,
        }
    }

    /// Returns the same store, which makes new runs in this directory instead of in their project.
    #[must_use]
    pub fn with_runs_dir(&self, runs_dir: Option<PathBuf>) -> Self {
        Self {
            runs_dir,
            ..self.clone()
        }
    }

    /// Returns the path of the index of all runs.
    pub fn index(&self) -> PathBuf {
        self.agent_dir.join("subagents-index.jsonl")
    }

    /// Makes the directory of a run: in its project or where the user wants it. It is under the
    /// agent directory if there is no project, or if others could touch the files in the project.
    pub fn make_directory(
        &self,
        project: Option<&Path>,
        run: &RunId,
    ) -> Result<RunDir, BeginError> {
        let wanted = match (&self.runs_dir, project) {
            (Some(named), _) => Some(runs_place::make_named(named)),
            (None, Some(project)) => Some(runs_place::make_in_project(project)),
            (None, None) => None,
        };
        let made = wanted.and_then(|runs| runs_place::make_run_directory(&runs.ok()?, run).ok());
        if let Some(directory) = made {
            return Ok(directory);
        }
        let elsewhere = self.runs_elsewhere();
        let made = runs_place::make_own(&elsewhere)
            .and_then(|runs| runs_place::make_run_directory(&runs, run));
        made.map_err(|source| BeginError {
            path: elsewhere.display().to_string(),
            source,
        })
    }

    /// Returns why the runs of a project are recorded under the agent directory, if they are.
    pub fn obstacle(&self, project: Option<&Path>) -> Option<String> {
        let opened = match (&self.runs_dir, project) {
            (Some(named), _) => runs_place::open_named(named),
            (None, Some(project)) => runs_place::open_in_project(project),
            (None, None) => return None,
        };
        let error = opened.err()?;
        (error.kind() != io::ErrorKind::NotFound).then(|| error.to_string())
    }

    /// Writes down that a run begins.
    pub fn begin(&self, run: &NewRun<'_>) -> Result<(), BeginError> {
        let Some(directory) = run.task.directory.as_ref().map(RunDir::new) else {
            return Ok(());
        };
        let at = run.task.accepted_at.unwrap_or_else(Timestamp::now);
        let failed = |path: &Path, source: io::Error| BeginError {
            path: path.display().to_string(),
            source,
        };
        let index = self.index();
        let meta = meta(run, at, sequence::next(&index, at));
        let seal =
            Seal::of_user(&self.agent_dir).map_err(|error| failed(&self.agent_dir, error))?;
        let content = serde_json::to_string_pretty(&meta)
            .map_err(|error| failed(&directory.meta(), error.into()))?;
        files::write_whole(&directory.meta(), seal.close(&content).as_bytes())
            .map_err(|error| failed(&directory.meta(), error))?;
        files::create_directories(&self.agent_dir)
            .and_then(|()| index::append_begin(&index, run.task, &directory, run.project, &meta))
            .map_err(|error| failed(&index, error))
    }

    /// Returns the agent directory, which holds the index.
    pub fn agent_dir(&self) -> &Path {
        &self.agent_dir
    }

    pub(crate) fn runs_dir(&self) -> Option<&Path> {
        self.runs_dir.as_deref()
    }

    pub(crate) fn runs_elsewhere(&self) -> PathBuf {
        self.agent_dir.join("subagents").join("runs")
    }

    /// Returns the runs that have no end in the index.
    pub fn open_runs(&self) -> Result<Vec<IndexedRun>, FindError> {
        Ok(self.survey(Path::new(""), SurveyDepth::Counts)?.open)
    }

    /// Returns the runs that have no end in the index, and in short the finished ones of a project.
    pub fn survey(&self, project: &Path, depth: SurveyDepth) -> Result<Survey, FindError> {
        self.read_index(|index| index::survey(index, project, depth))
    }

    /// Returns all runs of the index, in the order they began.
    pub fn runs(&self) -> Result<Vec<IndexedRun>, FindError> {
        self.read_index(index::read)
    }

    /// Returns the runs that a finder needs for these words, and all runs of their sessions, in the
    /// order they began. Among them it finds the same as among all runs of the index.
    pub fn candidates(
        &self,
        finder: Finder<'_>,
        words: &[&str],
    ) -> Result<Vec<IndexedRun>, FindError> {
        self.read_index(|index| index::candidates(index, finder, words))
    }

    /// Returns the runs of the newest part of the index, in the order they began: some hundreds, if
    /// there are many. The newest part may lack the beginning of a run whose end it has.
    pub fn newest_runs(&self) -> Result<Vec<IndexedRun>, FindError> {
        self.read_index(index::read_newest)
    }

    /// Returns the runs that were removed, as far as the index remembers them.
    pub fn removed_runs(&self) -> Result<Vec<RemovedRun>, FindError> {
        self.read_index(index::read_removed)
    }

    fn read_index<R>(&self, read: impl FnOnce(&Path) -> io::Result<R>) -> Result<R, FindError> {
        let index = self.index();
        read(&index).map_err(|source| FindError::Unreadable {
            path: index.display().to_string(),
            source,
        })
    }
}

impl IndexedRun {
    /// Returns whether the index knows of no end.
    pub fn is_open(&self) -> bool {
        self.state == RunState::Open
    }

    /// Returns whether it is a background run.
    pub fn is_background(&self) -> bool {
        self.owner.detached.is_some()
    }

    /// Returns how the run ended if nothing is known but that its owner is gone: a caller that ends
    /// takes its runs along, a detached owner should not have ended.
    pub(crate) fn without_owner(&self) -> Ending {
        if self.is_background() {
            Ending::Lost {
                reason: "owner process exited".to_owned(),
            }
        } else {
            Ending::Interrupted(Interruption::OwnerGone)
        }
    }
}

fn meta(run: &NewRun<'_>, at: Timestamp, sequence: u64) -> Meta {
    let task = run.task;
    let definition = task.definition.as_ref();
    Meta {
        format: FORMAT,
        run_id: task.run.to_string(),
        session_id: task.session.to_string(),
        name: task.name.clone(),
        prompt: task.prompt.clone(),
        cwd: task.cwd.clone(),
        preset: definition.map(|used| used.name.clone()),
        preset_summary: definition.map(|used| used.summary.clone()),
        preset_source: definition.and_then(|used| used.file.clone()),
        thinking: match definition.map(|used| &used.model) {
            Some(ModelChoice::Named { thinking, .. }) => {
                thinking.map(|level| level.as_str().to_owned())
            }
            Some(ModelChoice::Inherit) | None => None,
        },
        sticky_agent: run.sticky_agent.map(str::to_owned),
        terms: run.terms.cloned().unwrap_or_default(),
        tools: run.tools.clone(),
        known_tools: task.known_tools.clone(),
        test_commands: task.test_commands.clone(),
        has_schema: task.has_schema,
        sandbox: task.sandbox.clone(),
        system_prompt: run.system_prompt.map(|(text, _)| text.to_owned()),
        system_prompt_path: run.system_prompt.map(|(_, path)| path.to_owned()),
        timeout_seconds: task.timeout.map(|timeout| timeout.as_secs_f64()),
        runner: run.runner.map(str::to_owned),
        model: run.model.map(str::to_owned),
        requested_model: task.requested_model.clone(),
        resolved_model: run.model.map(str::to_owned),
        accepted_at: at.to_string(),
        call: task.call.clone(),
        sequence,
        project: run.project.to_owned(),
        owner: run.owner.clone(),
    }
}
