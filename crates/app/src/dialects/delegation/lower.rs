//! A call of the delegation family → a plan, with everything resolved.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_definitions::{ResumeMode, RunnerChoice, Settings};
use pi_subagents_delegation::{
    Limits, ModelChoice, Plan, PlannedTask, Program, Refusal, Runner, SessionId, SessionPolicy,
    SystemPrompt, Task, TaskPlan, ToolPolicy,
};
use pi_subagents_sessions::{FindError, Found, IndexedRun, NewRun, RunDir, history, transcript};

use super::attachments::with_files;
use super::call::{DelegateCall, TaskCall};
use crate::error::CommandError;
use crate::owner::{Owner, is_owned};
use crate::places::Places;
use crate::random;
use crate::runner::Runners;

/// The time a task of this family has when nobody says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// What the command line says for all tasks of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    pub(crate) runner: Option<RunnerChoice>,
    pub(crate) model: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) timeout: Option<Duration>,
}

/// Lowers calls for an owner.
pub(crate) struct Lowering<'a> {
    pub(crate) places: &'a Places,
    pub(crate) settings: &'a Settings,
    pub(crate) owner: &'a Owner,
    pub(crate) overrides: Overrides,
}

/// A session that a task goes on with.
struct Earlier {
    session: SessionId,
    runs: Vec<IndexedRun>,
}

impl Lowering<'_> {
    /// Makes a plan of a call. Fails only for what fails the call as a whole, before anything is
    /// made; whatever is wrong with a single task refuses that task.
    pub(crate) fn lower(&self, call: &DelegateCall) -> Result<(Plan, Vec<String>), CommandError> {
        let earlier = self.find_earlier(&call.tasks)?;
        let runners = Runners::new(self.places);
        let mut warnings = Vec::new();
        let tasks = call
            .tasks
            .iter()
            .zip(earlier)
            .map(|(task, earlier)| self.lower_task(task, earlier, &runners, &mut warnings))
            .collect::<Result<_, _>>()?;
        Ok((Plan { tasks }, warnings))
    }

    fn find_earlier(&self, tasks: &[TaskCall]) -> Result<Vec<Option<Earlier>>, CommandError> {
        let mut taken = HashSet::new();
        let mut found = Vec::new();
        for task in tasks {
            let earlier = match &task.resume {
                None => None,
                Some(id) => Some(self.find_session(id, &mut taken)?),
            };
            found.push(earlier);
        }
        Ok(found)
    }

    fn find_session(
        &self,
        id: &str,
        taken: &mut HashSet<SessionId>,
    ) -> Result<Earlier, CommandError> {
        let session = match self.owner.store.find(id) {
            Ok(Found::Session(session, _)) => session,
            Ok(Found::Run(run)) => run.session,
            Err(FindError::NotFound(_)) => {
                return Err(CommandError::not_found(format!(
                    "Cannot resume: session \"{id}\" not found. The session may have expired or the ID is incorrect."
                ))
                .hint("pi-subagents status --all lists the runs of this project."));
            }
            Err(error @ FindError::Ambiguous { .. }) => {
                return Err(CommandError::usage(format!("Cannot resume: {error}"))
                    .hint("Give more of the id."));
            }
            Err(error @ FindError::Unreadable { .. }) => {
                return Err(CommandError::failed("Cannot resume").because(&error));
            }
        };
        let runs = self
            .owner
            .store
            .session(&session)
            .map_err(|error| CommandError::failed("cannot resume").because(&error))?;
        let is_running = runs.iter().any(|run| run.is_open() && is_owned(run));
        if is_running || !taken.insert(session.clone()) {
            return Err(CommandError::usage(format!(
                "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
            )));
        }
        Ok(Earlier { session, runs })
    }

    fn lower_task(
        &self,
        call: &TaskCall,
        earlier: Option<Earlier>,
        runners: &Runners<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<PlannedTask, CommandError> {
        let run = random::new_run_id()?;
        let session = match &earlier {
            Some(earlier) => earlier.session.clone(),
            None => random::new_session_id()?,
        };
        let directory = match self.owner.store.make_directory(&self.places.project, &run) {
            Ok(directory) => Some(directory),
            Err(error) => {
                warnings.push(format!(
                    "{}: this run has no record: {}",
                    call.name,
                    with_cause(&error)
                ));
                None
            }
        };
        let cwd = self.cwd_of(call);
        let task = Arc::new(Task {
            run,
            session,
            name: call.name.clone(),
            prompt: call.prompt.clone(),
            cwd: cwd.clone().unwrap_or_else(|_| self.places.cwd.clone()),
            definition: None,
            timeout: Some(self.timeout_of(call)),
            directory: directory
                .as_ref()
                .map(|directory| directory.path().to_owned()),
        });
        let choice = self.overrides.runner.unwrap_or(self.settings.runner);
        let work = match (cwd, runners.resolve(choice)) {
            (Ok(cwd), Ok(child)) => {
                Ok(self.plan_task(call, &cwd, directory.as_ref(), earlier, child))
            }
            (Err(refusal), _) => Err(refusal),
            (Ok(_), Err(message)) => Err(Refusal { message }),
        };
        let begun = self.owner.store.begin(&NewRun {
            task: &task,
            project: &self.places.project,
            owner: &self.owner.name,
            runner: work.as_ref().ok().map(|plan| plan.runner.as_str()),
            model: self.overrides.model.as_deref(),
        });
        if let Err(error) = begun {
            warnings.push(format!(
                "{}: the record of this run is incomplete: {}",
                call.name,
                with_cause(&error)
            ));
        }
        Ok(PlannedTask { task, work })
    }

    fn plan_task(
        &self,
        call: &TaskCall,
        cwd: &Path,
        directory: Option<&RunDir>,
        earlier: Option<Earlier>,
        (runner, program): (Runner, Program),
    ) -> Box<TaskPlan> {
        let prompt = match earlier {
            Some(earlier) if !self.continues_session(&earlier, directory) => {
                let runs: Vec<_> = earlier
                    .runs
                    .iter()
                    .filter_map(|run| history(&run.directory).ok())
                    .collect();
                transcript::resumed_prompt(&transcript::for_resuming(&runs), &call.prompt)
            }
            Some(_) | None => call.prompt.clone(),
        };
        Box::new(TaskPlan {
            runner,
            program,
            prompt: with_files(&call.files, cwd, &prompt),
            model: match &self.overrides.model {
                None => ModelChoice::Inherit,
                Some(model) => ModelChoice::Named {
                    provider: None,
                    model: Some(model.clone()),
                    thinking: None,
                },
            },
            system_prompt: SystemPrompt::Inherit,
            tools: ToolPolicy::Inherit,
            session: directory.map_or(SessionPolicy::Nowhere, |directory| {
                SessionPolicy::File(directory.child_session())
            }),
            limits: Limits {
                timeout: Some(self.timeout_of(call)),
                extension: self.settings.extend_timeout_debounce,
                repetitions: self.settings.looping_tool_count,
            },
            trusted: false,
            extra_arguments: Vec::new(),
        })
    }

    /// Gives the child a copy of the session file of the latest run, if that is wanted and there
    /// is one; the earlier run's record stays as it is.
    fn continues_session(&self, earlier: &Earlier, directory: Option<&RunDir>) -> bool {
        let (ResumeMode::Session, Some(directory)) = (self.settings.resume, directory) else {
            return false;
        };
        earlier.runs.last().is_some_and(|latest| {
            fs::copy(latest.directory.child_session(), directory.child_session()).is_ok()
        })
    }

    fn timeout_of(&self, call: &TaskCall) -> Duration {
        call.timeout
            .or(self.overrides.timeout)
            .unwrap_or(DEFAULT_TIMEOUT)
    }

    fn cwd_of(&self, call: &TaskCall) -> Result<PathBuf, Refusal> {
        let refuse = |message: String| Err(Refusal { message });
        let cwd = match &call.cwd {
            Some(cwd) => PathBuf::from(cwd),
            None => match &self.overrides.cwd {
                Some(cwd) => self.places.cwd.join(cwd),
                None => return Ok(self.places.cwd.clone()),
            },
        };
        if !cwd.is_absolute() {
            return refuse("cwd must be an absolute path".to_owned());
        }
        let goes_up = cwd.components().any(|part| part == Component::ParentDir);
        if goes_up && call.cwd.is_some() {
            return refuse("cwd must not contain '..' path segments".to_owned());
        }
        match fs::metadata(&cwd) {
            Ok(metadata) if metadata.is_dir() => Ok(cwd),
            Ok(_) => refuse(format!("cwd is not a directory: {}", cwd.display())),
            Err(error) => refuse(format!("cwd cannot be used: {}: {error}", cwd.display())),
        }
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
