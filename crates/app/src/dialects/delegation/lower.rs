//! A call of the delegation family → a plan, with everything resolved.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_definitions::{Asker, PlanPatch, PromptFiles};
use pi_subagents_delegation::{
    Completion, Limits, ModelChoice, Plan, PlannedTask, Program, Refusal, Runner, SessionPolicy,
    SystemPrompt, Task, TaskPlan, ToolPolicy, UsedDefinition,
};
use pi_subagents_sessions::{NewRun, RunDir, write_whole};

use super::attachments::with_files;
use super::earlier::{Earlier, find_earlier};
use super::schema::{DelegateCall, TaskCall};
use crate::caller::Caller;
use crate::configuration::Configuration;
use crate::dialects::child_extension::write_child_extension;
use crate::dialects::definition_use::{
    DefinitionUse, Unusable, find_definition, use_definition, used,
};
use crate::dialects::working_directory::working_directory;
use crate::error::CommandError;
use crate::owner::Owner;
use crate::random;
use crate::runner::Runners;

/// The time a task of this family has when nobody says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// How often a child that must report is told so.
const CORRECTIONS: u32 = 3;

/// Lowers calls for an owner.
pub(crate) struct Lowering<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) configuration: &'a Configuration,
    pub(crate) owner: &'a Owner,
}

/// A task whose definition and child are known.
struct Prepared {
    cwd: PathBuf,
    runner: Runner,
    program: Program,
    definition: Option<DefinitionUse>,
}

impl Lowering<'_> {
    /// Makes a plan of a call. Fails only for what fails the call as a whole, before anything is
    /// made; whatever is wrong with a single task refuses that task.
    pub(crate) fn lower(&self, call: &DelegateCall) -> Result<(Plan, Vec<String>), CommandError> {
        let earlier = find_earlier(&self.owner.store, &self.caller.places, &call.tasks)?;
        let runners = Runners::new(self.caller);
        let prepared = call
            .tasks
            .iter()
            .map(|task| self.prepare(task, call.profile.as_deref(), &runners))
            .collect::<Result<Vec<_>, _>>()?;
        let mut warnings = self.configuration.warnings.clone();
        let tasks = call
            .tasks
            .iter()
            .zip(earlier)
            .zip(prepared)
            .map(|((task, earlier), prepared)| {
                let used = self.used_definition(task, call.profile.as_deref(), &prepared);
                self.plan(task, earlier.as_ref(), (prepared, used), &mut warnings)
            })
            .collect::<Result<_, _>>()?;
        Ok((Plan { tasks }, warnings))
    }

    /// Resolves everything that can refuse a task; fails for what fails the call.
    fn prepare(
        &self,
        call: &TaskCall,
        default_profile: Option<&str>,
        runners: &Runners<'_>,
    ) -> Result<Result<Prepared, Refusal>, CommandError> {
        match self.try_prepare(call, default_profile, runners) {
            Ok(prepared) => Ok(Ok(prepared)),
            Err(Unusable::Task(refusal)) => Ok(Err(refusal)),
            Err(Unusable::Call(error)) => Err(CommandError::usage(error.to_string())),
        }
    }

    fn try_prepare(
        &self,
        call: &TaskCall,
        default_profile: Option<&str>,
        runners: &Runners<'_>,
    ) -> Result<Prepared, Unusable> {
        let cwd = working_directory(
            call.cwd.as_deref(),
            self.caller.overrides.cwd.as_deref(),
            &self.caller.places,
        )
        .map_err(Unusable::Task)?;
        let definition = call
            .profile
            .as_deref()
            .or(default_profile)
            .map(|name| find_definition(name, Asker::Delegation, self.configuration))
            .transpose()
            .map_err(Unusable::Task)?;
        let choice = self
            .caller
            .overrides
            .runner
            .or(definition.and_then(|definition| definition.runner))
            .unwrap_or(self.configuration.settings.runner);
        let (runner, program) = runners
            .resolve(choice)
            .map_err(|message| Unusable::Task(Refusal { message }))?;
        let definition = definition
            .map(|found| use_definition(found, runner, &cwd, (self.caller, self.configuration)))
            .transpose()?;
        Ok(Prepared {
            cwd,
            runner,
            program,
            definition,
        })
    }

    /// The definition a task has, also where it is the reason why the task is refused.
    fn used_definition(
        &self,
        call: &TaskCall,
        default_profile: Option<&str>,
        prepared: &Result<Prepared, Refusal>,
    ) -> Option<UsedDefinition> {
        let mut used = if let Ok(prepared) = prepared {
            prepared.definition.as_ref()?.used.clone()
        } else {
            let name = call.profile.as_deref().or(default_profile)?;
            used(find_definition(name, Asker::Delegation, self.configuration).ok()?)
        };
        used.model = self.model_of(Some(&used.model));
        Some(used)
    }

    fn plan(
        &self,
        call: &TaskCall,
        earlier: Option<&Earlier>,
        (prepared, used): (Result<Prepared, Refusal>, Option<UsedDefinition>),
        warnings: &mut Vec<String>,
    ) -> Result<PlannedTask, CommandError> {
        let run = random::new_run_id()?;
        let made = self
            .owner
            .store
            .with_runs_dir(self.configuration.settings.runs_dir.clone())
            .make_directory(&self.caller.places.project, &run);
        if let Err(error) = &made {
            let cause = with_cause(error);
            warnings.push(format!("{}: this run has no record: {cause}", call.name));
        }
        let directory = made.ok();
        let definition = prepared
            .as_ref()
            .ok()
            .and_then(|prepared| prepared.definition.as_ref());
        let task = Arc::new(Task {
            run,
            session: match earlier {
                Some(earlier) => earlier.session.clone(),
                None => random::new_session_id()?,
            },
            name: call.name.clone(),
            prompt: call.prompt.clone(),
            cwd: match &prepared {
                Ok(prepared) => prepared.cwd.clone(),
                Err(_) => self.caller.places.cwd.clone(),
            },
            definition: used,
            timeout: Some(self.timeout_of(call, definition)),
            directory: directory.as_ref().map(|made| made.path().to_owned()),
        });
        let runner = prepared.as_ref().ok().map(|prepared| prepared.runner);
        let files = write_files(definition.zip(runner), directory.as_ref());
        let system_prompt = files.as_ref().ok().and_then(|files| {
            let (path, text) = files.prompts.files.first()?;
            Some((text.as_str(), path.as_path()))
        });
        let begun = self.owner.store.begin(&NewRun {
            task: &task,
            project: &self.caller.places.project,
            owner: &self.owner.name,
            runner: runner.map(Runner::as_str),
            model: self.model_name(definition),
            tools: definition.and_then(|definition| match &definition.patch.tools {
                ToolPolicy::Only(names) => Some(names.clone()),
                ToolPolicy::Inherit | ToolPolicy::Nothing | ToolPolicy::AllExcept(_) => None,
            }),
            system_prompt,
        });
        if let Err(error) = begun {
            warnings.push(format!(
                "{}: the record of this run is incomplete: {}",
                call.name,
                with_cause(&error)
            ));
        }
        let work = match (prepared, files) {
            (Ok(prepared), Ok(files)) => {
                Ok(self.work(call, earlier, prepared, (directory.as_ref(), files)))
            }
            (Err(refusal), _) | (Ok(_), Err(refusal)) => Err(refusal),
        };
        Ok(PlannedTask { task, work })
    }

    fn work(
        &self,
        call: &TaskCall,
        earlier: Option<&Earlier>,
        prepared: Prepared,
        (directory, files): (Option<&RunDir>, RunFiles),
    ) -> Box<TaskPlan> {
        let settings = &self.configuration.settings;
        let timeout = self.timeout_of(call, prepared.definition.as_ref());
        let prompt = match earlier {
            Some(earlier) => earlier.prompt(&call.prompt, settings.resume, directory),
            None => call.prompt.clone(),
        };
        let patch = prepared.definition.map(|definition| definition.patch);
        Box::new(TaskPlan {
            runner: prepared.runner,
            program: prepared.program,
            prompt: with_files(&call.files, &prepared.cwd, &prompt),
            model: self.model_of(patch.as_ref().map(|patch| &patch.model)),
            system_prompt: files.prompts.policy,
            tools: self.tools_of(patch.as_ref()),
            session: directory.map_or(SessionPolicy::Nowhere, |directory| {
                SessionPolicy::File(directory.child_session())
            }),
            completion: match &patch {
                Some(patch) if patch.finalize => Completion::Finalized {
                    corrections: CORRECTIONS,
                },
                Some(_) | None => Completion::LastMessage,
            },
            limits: Limits {
                timeout: Some(timeout),
                extension: settings.extend_timeout_debounce,
                repetitions: settings.looping_tool_count,
            },
            trusted: self.configuration.trust.of(&prepared.cwd).is_trusted(),
            extra_arguments: further_arguments(patch.as_ref(), files.extension.as_deref()),
            api_key: patch.and_then(|patch| patch.api_key),
        })
    }

    /// The model the call names, else the one its definition does; how much it thinks is the
    /// definition's unless the call's pattern says it.
    fn model_of(&self, of_definition: Option<&ModelChoice>) -> ModelChoice {
        match (&self.caller.overrides.model, of_definition) {
            (None, None) => ModelChoice::Inherit,
            (None, Some(choice)) => choice.clone(),
            (Some(model), choice) => ModelChoice::Named {
                provider: None,
                model: Some(model.clone()),
                thinking: match choice {
                    Some(ModelChoice::Named { thinking, .. }) => *thinking,
                    Some(ModelChoice::Inherit) | None => None,
                },
            },
        }
    }

    fn tools_of(&self, patch: Option<&PlanPatch>) -> ToolPolicy {
        match (&self.caller.overrides.tools, patch) {
            (Some(tools), _) => ToolPolicy::Only(tools.clone()),
            (None, Some(patch)) => patch.tools.clone(),
            (None, None) => ToolPolicy::Inherit,
        }
    }

    fn model_name<'a>(&'a self, definition: Option<&'a DefinitionUse>) -> Option<&'a str> {
        let of_definition = match definition.map(|definition| &definition.patch.model) {
            Some(ModelChoice::Named { model, .. }) => model.as_deref(),
            Some(ModelChoice::Inherit) | None => None,
        };
        self.caller.overrides.model.as_deref().or(of_definition)
    }

    fn timeout_of(&self, call: &TaskCall, definition: Option<&DefinitionUse>) -> Duration {
        call.timeout()
            .or(self.caller.overrides.timeout)
            .or(definition.and_then(|definition| definition.patch.timeout))
            .unwrap_or(DEFAULT_TIMEOUT)
    }
}

/// What was written into a run directory for its child.
struct RunFiles {
    prompts: PromptFiles,
    /// What a pi child loads.
    extension: Option<PathBuf>,
}

/// System prompts reach a child through files of its run directory, never through arguments.
fn write_files(
    definition: Option<(&DefinitionUse, Runner)>,
    directory: Option<&RunDir>,
) -> Result<RunFiles, Refusal> {
    let Some((definition, runner)) = definition else {
        return Ok(RunFiles {
            prompts: PromptFiles {
                policy: SystemPrompt::Inherit,
                files: Vec::new(),
            },
            extension: None,
        });
    };
    let refuse = |why: &dyn std::fmt::Display| Refusal {
        message: format!("What its definition says could not be written down: {why}"),
    };
    let directory = directory.ok_or_else(|| refuse(&"the run has no directory"))?;
    let prompts = definition.patch.prompt_files(directory.path());
    for (path, text) in &prompts.files {
        write_whole(path, text.as_bytes())
            .map_err(|error| refuse(&format!("{}: {error}", path.display())))?;
    }
    let extension = write_child_extension(&definition.patch, runner, directory)
        .map_err(|error| refuse(&error))?;
    Ok(RunFiles { prompts, extension })
}

fn further_arguments(patch: Option<&PlanPatch>, extension: Option<&Path>) -> Vec<String> {
    let mut arguments = patch.map(PlanPatch::further_arguments).unwrap_or_default();
    if let Some(extension) = extension {
        arguments.extend(["--extension".to_owned(), extension.display().to_string()]);
    }
    arguments
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
