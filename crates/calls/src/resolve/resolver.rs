//! From the tasks of a call and the configuration to resolved tasks.

use pi_subagents_vocabulary::Advice;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_vocabulary::{
    Definition, Limits, ModelChoice, Refusal, Runner, RunnerChoice, Secret, ToolPolicy,
    UsedDefinition,
};

use super::asked::{Asked, Family};
use super::definition::{Unusable, find_definition, patch_of, used};
use super::gates::gates_of;
use super::model::{ChosenModel, Sources, provider_of};
use super::model_check::ModelChecks;
use super::place::place_of;
use super::schema::schema_of;
use super::task::{ChosenProgram, ResolvedTask, ResolvedWork};
use super::working_directory::working_directory;
use crate::caller::Caller;
use crate::destination::Destination;
use crate::runner::{ChosenRunner, Runners};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;

/// Resolves the tasks of one call.
pub struct Resolver<'a> {
    pub(crate) family: Family,
    pub(crate) caller: &'a Caller,
    pub(crate) configuration: &'a Configuration,
    pub(super) runners: Runners<'a>,
    pub(super) models: ModelChecks<'a>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        family: Family,
        caller: &'a Caller,
        configuration: &'a Configuration,
    ) -> Self {
        Self {
            family,
            caller,
            configuration,
            runners: Runners::new(caller),
            models: ModelChecks::new(caller),
        }
    }

    /// Resolves all tasks of a call. Fails only if the call as a whole fails; a fault of a single
    /// task refuses that task.
    pub(crate) fn resolve(&self, tasks: &[Asked<'_>]) -> Result<Vec<ResolvedTask>, CommandError> {
        self.configuration.check()?;
        self.destination()?;
        tasks.iter().map(|asked| self.resolve_one(asked)).collect()
    }

    /// Returns the place in the fleet where the tasks work; `None` if they work here.
    pub(crate) fn destination(&self) -> Result<Option<Destination>, CommandError> {
        Destination::of(
            &self.caller.overrides.fleet,
            &self.configuration.settings.fleet,
        )
    }

    /// Returns whether the tasks work on a worker of a fleet.
    pub(crate) fn is_for_fleet(&self) -> bool {
        matches!(self.destination(), Ok(Some(_)))
    }

    /// Returns the warnings for the answer of a call: problems of settings and `models.json`, and
    /// ignored definitions of the same names. The tasks are resolved before.
    pub(crate) fn warnings(&self, tasks: &[Asked<'_>]) -> Vec<String> {
        let catalogue = &self.configuration.catalogue;
        // The refusal of an unknown definition gives the reason already.
        let is_used = |name: &str| {
            let mut named = tasks.iter().filter_map(|task| task.definition);
            named.any(|used| used == name) && catalogue.find(name, self.family.asker).is_ok()
        };
        let ignored = catalogue.notices_of(&Advice::Trust.words(self.caller.door), is_used);
        let mut warnings = self.configuration.warnings.clone();
        warnings.extend(self.models.file_warnings().iter().cloned());
        warnings.extend(ignored);
        warnings
    }

    fn resolve_one(&self, asked: &Asked<'_>) -> Result<ResolvedTask, CommandError> {
        let definition = asked.definition.map(|name| self.find(name)).transpose();
        let named = match (&definition, asked.definition) {
            (Ok(found), _) => found.map(used),
            (Err(_), name) => name.map(unknown),
        };
        let (cwd, work) = match self.work(asked, definition) {
            Ok((cwd, work)) => (cwd, Ok(work)),
            Err(Unusable::Task(refusal)) => (self.caller.places.cwd.clone(), Err(refusal)),
            Err(Unusable::Call(error)) => return Err(error),
        };
        let model = work.as_ref().ok().map(|work| work.model.choice.clone());
        Ok(ResolvedTask {
            cwd,
            definition: named.map(|named| UsedDefinition {
                model: model.unwrap_or_else(|| named.model.clone()),
                ..named
            }),
            timeout: match &work {
                Ok(work) => work.limits.timeout,
                Err(_) => self.timeout_of(asked, None),
            },
            work,
        })
    }

    fn find(&self, name: &str) -> Result<&'a Definition, Refusal> {
        let door = self.caller.door;
        find_definition(name, self.family.asker, self.configuration, door)
    }

    fn work(
        &self,
        asked: &Asked<'_>,
        definition: Result<Option<&Definition>, Refusal>,
    ) -> Result<(PathBuf, ResolvedWork), Unusable> {
        let (overrides, settings) = (&self.caller.overrides, &self.configuration.settings);
        let cwd = working_directory(asked.cwd, overrides.cwd.as_deref(), &self.caller.places)
            .map_err(Unusable::Task)?;
        let definition = definition.map_err(Unusable::Task)?;
        let choice = overrides
            .runner
            .or(definition.and_then(|definition| definition.runner))
            .unwrap_or(settings.runner);
        let ResolvedRunner {
            runner,
            program,
            warning,
        } = self.runner(choice).map_err(Unusable::Task)?;
        let wished = asked.model.or(overrides.model.as_deref());
        let default_model = settings.default_model.as_deref();
        let model = ChosenModel::choose(Sources {
            wished,
            definition,
            pi: self.caller.pi.as_ref(),
            default_model,
            runner,
        })
        .map_err(Unusable::Task)?;
        let (model, doubts) = match &program {
            ChosenProgram::Here(_) => {
                let model = self.models.insist_on_default(model, default_model, runner);
                let choosing = definition.filter(|_| wished.is_none());
                let doubts = self.models.check(&model, runner, choosing)?;
                (model, doubts)
            }
            // The worker has models of its own, and checks this model.
            ChosenProgram::OnWorker(_) => (model, Vec::new()),
        };
        let patch = definition
            .map(|found| patch_of(found, runner, &cwd, (self.caller, self.configuration)))
            .transpose()?;
        let place = place_of(asked, overrides, patch.as_ref(), (settings.isolation, &cwd));
        let gates = gates_of(asked, patch.as_ref(), (self.caller, settings));
        let schema = schema_of(asked, overrides.output_schema.as_ref(), patch.as_ref());
        let schema = schema.map_err(Unusable::Task)?;
        let mut tools = self.tools_of(patch.as_ref());
        if schema.is_some() {
            tools = tools.with_report();
        }
        let work = ResolvedWork {
            gates: gates.map_err(Unusable::Task)?,
            runner,
            program,
            tools,
            schema,
            api_key: patch
                .as_ref()
                .and_then(|patch| key_for(patch, &model.choice)),
            limits: Limits {
                timeout: self.timeout_of(asked, patch.as_ref()),
                extension: settings.extend_timeout_debounce,
                repetitions: settings.looping_tool_count,
                allowance: overrides.allowance.or(settings.allowance),
            },
            place: place.map_err(Unusable::Task)?,
            trusted: self.may_load(runner, &cwd),
            model,
            patch,
            warning,
            doubts,
        };
        Ok((cwd, work))
    }

    /// Returns the kind of child and its program. A worker of a fleet finds them for itself.
    fn runner(&self, choice: RunnerChoice) -> Result<ResolvedRunner, Refusal> {
        if self.is_for_fleet() {
            return Ok(ResolvedRunner {
                runner: match choice {
                    RunnerChoice::Embedded => Runner::Embedded,
                    RunnerChoice::Auto | RunnerChoice::Pi => Runner::Pi,
                },
                program: ChosenProgram::OnWorker(choice),
                warning: None,
            });
        }
        let chosen = self.runners.resolve(choice);
        let ChosenRunner {
            runner,
            program,
            warning,
        } = chosen.map_err(|message| Refusal { message })?;
        Ok(ResolvedRunner {
            runner,
            program: ChosenProgram::Here(program),
            warning,
        })
    }

    /// Returns whether the child may load the configuration of its directory. The embedded agent
    /// reads settings and skills and runs nothing of a project; a pi would also run its extensions
    /// and MCP servers, about which only pi's own question asks.
    fn may_load(&self, runner: Runner, cwd: &Path) -> bool {
        let trust = &self.configuration.trust;
        match runner {
            Runner::Embedded => trust.of(cwd).is_trusted(),
            Runner::Pi if self.caller.is_trusting_pi() => trust.of(cwd).is_trusted(),
            Runner::Pi => trust.lets_pi_load(cwd),
        }
    }

    fn tools_of(&self, patch: Option<&PlanPatch>) -> ToolPolicy {
        match (&self.caller.overrides.tools, patch) {
            (Some(tools), _) => ToolPolicy::Only(tools.clone()),
            (None, Some(patch)) => patch.tools.clone(),
            (None, None) => ToolPolicy::Inherit,
        }
    }

    fn timeout_of(&self, asked: &Asked<'_>, patch: Option<&PlanPatch>) -> Option<Duration> {
        asked
            .timeout
            .or(self.caller.overrides.timeout)
            .or(patch.and_then(|patch| patch.timeout))
            .or(self.family.timeout)
    }
}

/// The kind of child that does a task, here or on a worker.
struct ResolvedRunner {
    runner: Runner,
    program: ChosenProgram,
    warning: Option<String>,
}

/// Returns the key of a definition, unless the call chose a model of another provider than the
/// key's.
fn key_for(patch: &PlanPatch, chosen: &ModelChoice) -> Option<Secret> {
    match (provider_of(&patch.model), provider_of(chosen)) {
        (Some(own), Some(other)) if own != other => None,
        (Some(_) | None, _) => patch.api_key.clone(),
    }
}

/// Returns the facts about a definition that cannot be found: its name.
fn unknown(name: &str) -> UsedDefinition {
    UsedDefinition {
        name: name.to_owned(),
        summary: String::new(),
        model: ModelChoice::Inherit,
        file: None,
    }
}
