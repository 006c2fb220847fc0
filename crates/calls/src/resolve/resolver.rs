//! From the tasks of a call and the configuration to resolved tasks.

use pi_subagents_vocabulary::Advice;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_vocabulary::{
    Definition, Limits, ModelChoice, Refusal, RunTerms, Runner, RunnerChoice, Secret, ToolPolicy,
    UsedDefinition,
};

use super::asked::{Asked, Family};
use super::definition::{Unusable, find_definition, patch_of, used};
use super::gates::gates_of;
use super::model::{ChosenModel, Sources, provider_of};
use super::model_check::ModelChecks;
use super::place::place_of;
use super::schema::schema_of;
use super::task::{ResolvedTask, ResolvedWork};
use super::terms::terms_of;
use super::working_directory::working_directory;
use crate::caller::Caller;
use crate::destination::Destination;
use crate::elsewhere::may_travel;
use crate::runner::Runners;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;

/// Resolves the tasks of one call.
pub struct Resolver<'a> {
    pub(crate) family: Family,
    pub(crate) caller: &'a Caller,
    pub(crate) configuration: &'a Configuration,
    pub(crate) destination: &'a Destination,
    pub(crate) runners: Runners<'a>,
    pub(super) models: ModelChecks<'a>,
}

impl<'a> Resolver<'a> {
    pub fn new(
        family: Family,
        caller: &'a Caller,
        configuration: &'a Configuration,
        destination: &'a Destination,
    ) -> Self {
        Self {
            family,
            caller,
            configuration,
            destination,
            runners: Runners::new(caller),
            models: ModelChecks::new(caller),
        }
    }

    /// Resolves all tasks of a call. Fails only if the call as a whole fails; a fault of a single
    /// task refuses that task.
    pub(crate) fn resolve(&self, tasks: Vec<Asked>) -> Result<Vec<ResolvedTask>, CommandError> {
        let tasks = tasks.into_iter();
        tasks.map(|asked| self.resolve_one(asked)).collect()
    }

    /// Returns the warnings for the answer of a call: problems of settings and `models.json`, and
    /// ignored definitions of the same names. The tasks are resolved before.
    pub(crate) fn warnings(&self, tasks: &[ResolvedTask]) -> Vec<String> {
        let catalogue = &self.configuration.catalogue;
        // The refusal of an unknown definition gives the reason already.
        let is_used = |name: &str| {
            let mut named = tasks
                .iter()
                .filter_map(|task| task.asked.definition.as_deref());
            named.any(|used| used == name) && catalogue.find(name, self.family.asker).is_ok()
        };
        let ignored = catalogue.notices_of(&Advice::Trust.words(self.caller.door), is_used);
        let mut warnings = self.configuration.warnings.clone();
        warnings.extend(self.models.file_warnings().iter().cloned());
        warnings.extend(ignored);
        warnings
    }

    fn resolve_one(&self, asked: Asked) -> Result<ResolvedTask, CommandError> {
        let name = asked.definition.as_deref();
        let definition = name.map(|name| self.find(name)).transpose();
        let named = match (&definition, name) {
            (Ok(found), _) => found.map(used),
            (Err(_), name) => name.map(unknown),
        };
        let mut terms = terms_of(&asked, &self.caller.overrides);
        let (cwd, work) = match self.work(&asked, &terms, definition) {
            Ok((cwd, work)) => (cwd, Ok(work)),
            Err(Unusable::Task(refusal)) => (self.caller.places.cwd.clone(), Err(refusal)),
            Err(Unusable::Call(error)) => return Err(error),
        };
        if let (Ok(work), None) = (&work, &asked.definition) {
            self.keep_child(&mut terms, work);
        }
        let model = work.as_ref().ok().map(|work| work.model.choice.clone());
        Ok(ResolvedTask {
            cwd,
            definition: named.map(|named| UsedDefinition {
                model: model.unwrap_or_else(|| named.model.clone()),
                ..named
            }),
            timeout: match &work {
                Ok(work) => work.limits.timeout,
                Err(_) => self.timeout_of(&terms, None),
            },
            terms,
            asked,
            work,
        })
    }

    fn find(&self, name: &str) -> Result<&'a Definition, Refusal> {
        let door = self.caller.door;
        find_definition(name, self.family.asker, self.configuration, door)
    }

    fn work(
        &self,
        asked: &Asked,
        terms: &RunTerms,
        definition: Result<Option<&Definition>, Refusal>,
    ) -> Result<(PathBuf, ResolvedWork), Unusable> {
        let (overrides, settings) = (&self.caller.overrides, &self.configuration.settings);
        let cwd = working_directory(
            asked.cwd.as_deref(),
            overrides.cwd.as_deref(),
            &self.caller.places,
        )
        .map_err(Unusable::Task)?;
        let definition = definition.map_err(Unusable::Task)?;
        let choice = terms
            .runner
            .or(definition.and_then(|definition| definition.runner))
            .unwrap_or(settings.runner);
        let (runner, warning) = self.runner(choice).map_err(Unusable::Task)?;
        let wished = terms.model.as_deref();
        let default_model = settings.default_model.as_deref();
        let model = ChosenModel::choose(Sources {
            wished,
            definition,
            pi: self.caller.pi.as_ref(),
            default_model,
            runner,
        })
        .map_err(Unusable::Task)?;
        let (model, doubts) = match self.destination {
            Destination::Here => {
                let model = self.models.insist_on_default(model, default_model, runner);
                let choosing = definition.filter(|_| wished.is_none());
                let doubts = self.models.check(&model, runner, choosing)?;
                (model, doubts)
            }
            // The worker has models of its own, and checks this model.
            Destination::Fleet(_) => (model, Vec::new()),
        };
        let patch = definition
            .map(|found| patch_of(found, runner, &cwd, (self.caller, self.configuration)))
            .transpose()?;
        let place = place_of(
            (asked, terms),
            overrides,
            patch.as_ref(),
            (settings.isolation, &cwd),
        );
        let gates = gates_of((asked, terms), patch.as_ref(), (self.caller, settings));
        let schema = schema_of(terms, patch.as_ref());
        let schema = schema.map_err(Unusable::Task)?;
        let mut tools = tools_of(terms, patch.as_ref());
        if schema.is_some() {
            tools = tools.with_report();
        }
        let work = ResolvedWork {
            gates: gates.map_err(Unusable::Task)?,
            runner,
            choice,
            tools,
            schema,
            api_key: patch
                .as_ref()
                .and_then(|patch| key_for(patch, &model.choice)),
            limits: Limits {
                timeout: self.timeout_of(terms, patch.as_ref()),
                extension: settings.extend_timeout_debounce,
                repetitions: settings.looping_tool_count,
                allowance: terms.allowance.or(settings.allowance),
            },
            place: place.map_err(Unusable::Task)?,
            trusted: self.may_load(runner, &cwd),
            model,
            patch,
            warning,
            doubts,
        };
        if let Destination::Fleet(destination) = self.destination {
            may_travel(&work, destination).map_err(Unusable::Task)?;
        }
        Ok((cwd, work))
    }

    /// Returns the kind of child, and a warning about the choice. A worker of a fleet looks for its
    /// own program.
    fn runner(&self, choice: RunnerChoice) -> Result<(Runner, Option<String>), Refusal> {
        match (self.destination, choice) {
            (Destination::Fleet(_), RunnerChoice::Embedded) => Ok((Runner::Embedded, None)),
            (Destination::Fleet(_), RunnerChoice::Auto | RunnerChoice::Pi) => {
                Ok((Runner::Pi, None))
            }
            (Destination::Here, choice) => {
                let chosen = self.runners.resolve(choice);
                let chosen = chosen.map_err(|message| Refusal { message })?;
                Ok((chosen.runner, chosen.warning))
            }
        }
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

    /// Keeps the kind of child and the model of a task without a definition for the runs that
    /// continue it: nothing else names them.
    fn keep_child(&self, terms: &mut RunTerms, work: &ResolvedWork) {
        let runner = match (self.destination, work.runner) {
            (Destination::Here, Runner::Pi) => Some(RunnerChoice::Pi),
            (Destination::Here, Runner::Embedded) => Some(RunnerChoice::Embedded),
            // Its worker chose it.
            (Destination::Fleet(_), _) => None,
        };
        terms.runner = terms.runner.or(runner);
        if terms.model.is_none() {
            terms.model.clone_from(&work.model.requested);
        }
    }

    fn timeout_of(&self, terms: &RunTerms, patch: Option<&PlanPatch>) -> Option<Duration> {
        terms
            .timeout
            .or(patch.and_then(|patch| patch.definition.timeout))
            .or(self.family.timeout)
    }
}

fn tools_of(terms: &RunTerms, patch: Option<&PlanPatch>) -> ToolPolicy {
    match (&terms.tools, patch) {
        (Some(tools), _) => ToolPolicy::Only(tools.clone()),
        (None, Some(patch)) => patch.tools.clone(),
        (None, None) => ToolPolicy::Inherit,
    }
}

/// Returns the key of a definition, unless the call chose a model of another provider than the
/// key's.
fn key_for(patch: &PlanPatch, chosen: &ModelChoice) -> Option<Secret> {
    match (provider_of(&patch.model), provider_of(chosen)) {
        (Some(own), Some(other)) if own != other => None,
        (Some(_) | None, _) => patch.definition.api_key.clone(),
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
