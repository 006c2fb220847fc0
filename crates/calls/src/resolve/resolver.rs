//! From the tasks of a call and the configuration to resolved tasks.

use pi_subagents_vocabulary::Advice;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pi_subagents_configuration::{PlanPatch, Settings};
use pi_subagents_vocabulary::{
    Completion, Definition, Limits, ModelChoice, OutputSchema, QuestionTerms, Refusal, RunBudgets,
    RunTerms, Runner, RunnerChoice, Sandbox, Secret, ToolPolicy, UsedDefinition, Work,
};

use super::definition::{Unusable, find_definition, patch_of, used};
use super::fallback::FoundFallbacks;
use super::family::Family;
use super::gates::gates_of;
use super::model::{ChosenModel, Sources, provider_of};
use super::model_check::{ModelChecks, NamedModel};
use super::other_agent::check_other_agent;
use super::place::{RunPlace, check_place, place_of};
use super::reading_run::ReadingRun;
use super::sandbox::{SandboxOrigin, TaskSandbox, sandbox_of};
use super::schema::schema_of;
use super::servers::{HostedTask, check_servers, with_host_servers};
use super::task::{FoundHere, RequestedTask, ResolvedTask, ResolvedWork};
use super::terms::terms_of;
use super::working_directory::working_directory;
use crate::caller::Caller;
use crate::destination::Destination;
use crate::elsewhere::may_travel;
use crate::runner::Runners;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The number of corrections for a child that must report.
const CORRECTIONS: u32 = 3;

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
            runners: Runners::new(caller, &configuration.settings),
            models: ModelChecks::new(caller),
        }
    }

    /// Returns the settings that hold for the call.
    pub fn settings(&self) -> &'a Settings {
        &self.configuration.settings
    }

    /// Returns the places of the caller.
    pub fn places(&self) -> &'a Places {
        &self.caller.places
    }

    /// Resolves all tasks of a call. Fails only if the call as a whole fails; a fault of a single
    /// task refuses that task.
    pub(crate) fn resolve(
        &self,
        tasks: Vec<RequestedTask>,
    ) -> Result<Vec<ResolvedTask>, CommandError> {
        let tasks = tasks.into_iter();
        tasks.map(|task| self.resolve_one(task)).collect()
    }

    /// Returns the warnings for the answer of a call: problems of settings and `models.json`, and
    /// ignored definitions of the same names. The tasks are resolved before.
    pub(crate) fn warnings(&self, tasks: &[ResolvedTask]) -> Vec<String> {
        let catalogue = &self.configuration.catalogue;
        // The refusal of an unknown definition gives the reason already.
        let is_used = |name: &str| {
            let mut named = tasks.iter().filter_map(|task| task.request.agent_name());
            named.any(|used| used == name) && catalogue.find(name, self.family.asker).is_ok()
        };
        let ignored = catalogue.notices_of(&Advice::Trust.words(self.caller.door), is_used);
        let mut warnings = self.configuration.warnings.clone();
        warnings.extend(self.models.file_warnings().iter().cloned());
        warnings.extend(ignored);
        warnings
    }

    fn resolve_one(&self, task: RequestedTask) -> Result<ResolvedTask, CommandError> {
        let name = task.request.agent_name();
        let definition = name.map(|name| self.find(name)).transpose();
        let named = match (&definition, name) {
            (Ok(found), _) => found.map(used),
            (Err(_), name) => name.map(unknown),
        };
        let mut terms = terms_of(&task, &self.caller.overrides);
        let (cwd, work) = match self.work(&task, &terms, definition) {
            Ok((cwd, work)) => (cwd, Ok(work)),
            Err(Unusable::Task(refusal)) => (self.caller.places.cwd.clone(), Err(refusal)),
            Err(Unusable::Call(error)) => return Err(error),
        };
        if let (Ok(work), None) = (&work, name) {
            self.keep_child(&mut terms, work);
        }
        if let Ok(work) = &work {
            keep_sandbox(&mut terms, work);
        }
        let model = work.as_ref().ok().map(|task| task.work.model.clone());
        let sandbox = work.as_ref().ok().map(|task| &task.work.sandbox);
        Ok(ResolvedTask {
            cwd,
            definition: named.map(|named| UsedDefinition {
                model: model.unwrap_or_else(|| named.model.clone()),
                summary: with_sandbox(&named.summary, sandbox),
                ..named
            }),
            timeout: match &work {
                Ok(task) => task.work.limits.timeout,
                Err(_) => self.limits_of(&terms, None).timeout,
            },
            terms,
            request: task.request,
            session: task.session,
            work,
        })
    }

    fn find(&self, name: &str) -> Result<&'a Definition, Refusal> {
        let door = self.caller.door;
        find_definition(name, self.family.asker, self.configuration, door)
    }

    fn work(
        &self,
        task: &RequestedTask,
        terms: &RunTerms,
        definition: Result<Option<&Definition>, Refusal>,
    ) -> Result<(PathBuf, ResolvedWork), Unusable> {
        let (overrides, settings) = (&self.caller.overrides, &self.configuration.settings);
        let cwd = working_directory(
            task.request.cwd.as_deref(),
            overrides.cwd.as_deref(),
            &self.caller.places,
        )
        .map_err(Unusable::Task)?;
        let definition = definition.map_err(Unusable::Task)?;
        let choice = terms
            .runner
            .or(definition.and_then(|definition| definition.runner))
            .unwrap_or(settings.runner);
        let choice = match (choice, definition) {
            // No other child can be given servers.
            (RunnerChoice::Auto, Some(definition)) if !definition.mcp_servers.is_empty() => {
                RunnerChoice::Embedded
            }
            (RunnerChoice::Auto, _) if !overrides.host_servers.is_empty() => RunnerChoice::Embedded,
            (choice, _) => choice,
        };
        let command = definition.map_or(&[][..], |definition| &definition.command);
        let (runner, warning) = self.runner(choice, command).map_err(Unusable::Task)?;
        let other_agent = runner.other_agent();
        let wished = terms.model.as_deref();
        let definition = match (definition, wished) {
            // An agent of others has its own names for its models.
            (found, _) if other_agent.is_some() => found.map(Cow::Borrowed),
            (Some(found), None) => Some(self.models.translated(found, &settings.model_aliases)?),
            (found, _) => found.map(Cow::Borrowed),
        };
        let definition = definition.as_deref();
        let default_model = settings.default_model.as_deref();
        let default_model = default_model.filter(|_| other_agent.is_none());
        let model = ChosenModel::choose(Sources {
            wished,
            thinking: terms.thinking,
            definition,
            pi: self.caller.pi.as_ref().filter(|_| other_agent.is_none()),
            default_model,
            runner,
        })
        .map_err(Unusable::Task)?;
        self.check_allowed(task).map_err(Unusable::Task)?;
        let fallback_models = match other_agent {
            Some(_) => terms.fallback_models.clone().unwrap_or_default(),
            None => self.fallback_models(terms, definition),
        };
        let (model, mut doubts) = match self.destination {
            // The agent checks it, and names its models if it has no such one.
            _ if other_agent.is_some() => (model, Vec::new()),
            Destination::Here => {
                let model = self.models.insist_on_default(model, default_model, runner);
                // A session that goes on has a model.
                let NamedModel { model, remark } = match &task.inherited {
                    None => self.models.name_default(model, default_model, runner)?,
                    Some(_) => NamedModel {
                        model,
                        remark: None,
                    },
                };
                let choosing = definition.filter(|_| wished.is_none());
                let mut doubts = self.models.check(&model, runner, choosing)?;
                doubts.extend(remark);
                (model, doubts)
            }
            // The worker has models of its own, and checks this model. Its own default would be
            // another model than the caller has chosen for everything.
            Destination::Fleet(_) => (model.or_default(default_model), Vec::new()),
        };
        let found = match self.destination {
            Destination::Here => {
                let found = self
                    .models
                    .fallbacks(&fallback_models, &model.choice, default_model);
                found.map_err(Unusable::Task)?
            }
            // The worker looks for them among its own.
            Destination::Fleet(_) => FoundFallbacks {
                fallbacks: None,
                doubts: Vec::new(),
            },
        };
        doubts.extend(found.doubts);
        let patch = definition
            .map(|found| patch_of(found, runner, &cwd, self.caller, self.configuration))
            .transpose()?;
        let of_definition = patch.as_ref().map(|patch| &patch.mcp_servers);
        let mcp_servers = with_host_servers(HostedTask {
            host_servers: &overrides.host_servers,
            of_definition,
            runner,
            is_here: matches!(self.destination, Destination::Here),
        })
        .map_err(Unusable::Task)?;
        let place = place_of(
            task,
            terms,
            overrides,
            patch.as_ref(),
            settings.isolation,
            &cwd,
        );
        let place = place.and_then(|place| match self.destination {
            Destination::Here => check_place(&place, &cwd).map(|()| place),
            // Its files travel as they are here, and are looked at then.
            Destination::Fleet(_) => Ok(place),
        });
        let gates = gates_of(task, terms, patch.as_ref(), self.caller, settings);
        let schema = schema_of(terms, patch.as_ref()).map_err(Unusable::Task)?;
        let mut tools = tools_of(terms, patch.as_ref());
        if schema.is_some() {
            tools = tools.with_report();
        }
        let (place, gates) = (
            place.map_err(Unusable::Task)?,
            gates.map_err(Unusable::Task)?,
        );
        let trusted = self.may_load(runner, &cwd);
        let reading = ReadingRun {
            tools: &tools,
            runner,
            model: &model.choice,
            fallback_models: &fallback_models,
            mcp_servers: &mcp_servers.0,
            gates: &gates,
            setup: match place {
                RunPlace::Checkout => None,
                RunPlace::Worktree { .. } => settings.worktrees.setup.as_deref(),
            },
            cwd: &cwd,
            trusted,
        };
        // A worker knows its own sandboxes.
        let reading = matches!(self.destination, Destination::Here).then_some(reading);
        let TaskSandbox {
            sandbox,
            origin,
            warnings,
        } = sandbox_of(
            task,
            patch.as_ref(),
            self.caller,
            &settings.sandbox,
            reading,
        )
        .map_err(Unusable::Task)?;
        doubts.extend(warnings);
        if let Some(patch) = &patch {
            check_servers(&patch.mcp_servers, &sandbox, &self.caller.places.agent_dir)
                .map_err(Unusable::Task)?;
        }
        let ChosenModel {
            choice: model,
            requested,
            resolved,
        } = model;
        let api_key = patch.as_ref().and_then(|patch| key_for(patch, &model));
        let of_patch = patch.as_ref();
        let work = Work {
            prompt: task.request.prompt.clone(),
            runner: choice,
            model,
            fallback_models,
            system_prompt: of_patch
                .map(|patch| patch.system_prompt.clone())
                .unwrap_or_default(),
            tools,
            completion: completion_of(schema, of_patch),
            gates,
            pollers: of_patch
                .map(|patch| patch.definition.pollers.clone())
                .unwrap_or_default(),
            limits: self.limits_of(terms, of_patch),
            sandbox,
            commands: of_patch
                .map(|patch| patch.definition.commands.clone())
                .unwrap_or_default(),
            mcp_servers,
            questions: self.questions_of(of_patch),
            trusted,
            arguments: of_patch
                .map(PlanPatch::further_arguments)
                .unwrap_or_default(),
        };
        let here = FoundHere {
            runner,
            requested_model: requested,
            resolved_model: resolved,
            skills: of_patch
                .map(|patch| patch.skills.clone())
                .unwrap_or_default(),
            patch,
            fallbacks: found.fallbacks,
            api_key,
            budgets: RunBudgets::default(),
            place,
            sandbox_origin: origin,
            warning,
            doubts,
        };
        let mut work = ResolvedWork { work, here };
        if let Some(agent) = other_agent {
            let told = check_other_agent(agent, &work.work, self.destination);
            work.here.doubts.extend(told.map_err(Unusable::Task)?);
        }
        if let Destination::Fleet(destination) = self.destination {
            may_travel(&self.caller.places, &work, destination).map_err(Unusable::Task)?;
        }
        Ok((cwd, work))
    }

    /// Returns the names of the models that may take over: those that were set for the task, else
    /// those of its definition, else those of the settings.
    fn fallback_models(&self, terms: &RunTerms, definition: Option<&Definition>) -> Vec<String> {
        let of_definition = definition.map(|found| &found.fallback_models);
        let of_definition = of_definition.filter(|names| !names.is_empty());
        let of_settings = &self.configuration.settings.fallback_models;
        let set = terms.fallback_models.as_ref();
        set.or(of_definition).unwrap_or(of_settings).clone()
    }

    /// Returns whom a run may ask: nobody, unless somebody sees its questions.
    fn questions_of(&self, patch: Option<&PlanPatch>) -> QuestionTerms {
        let settings = self.settings();
        let of_definition = patch.map(|patch| &patch.definition);
        let asks = of_definition.and_then(|definition| definition.questions);
        let dialogs = of_definition.and_then(|definition| definition.permissions);
        let terms = QuestionTerms::of(
            asks.unwrap_or(settings.questions),
            dialogs.unwrap_or_default(),
            self.caller.answerers_with(settings.park_after.is_some()),
        );
        terms.parked_after(self.caller.parking.after(settings.park_after))
    }

    /// Returns the kind of child, and a warning about the choice. A worker of a fleet looks for its
    /// own program.
    fn runner(
        &self,
        choice: RunnerChoice,
        command: &[String],
    ) -> Result<(Runner, Option<String>), Refusal> {
        match (self.destination, choice) {
            (Destination::Fleet(_), choice) => Ok((choice.usual(), None)),
            (Destination::Here, choice) => {
                let chosen = self.runners.resolve(choice, command);
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
        if runner.loads_extensions() && !self.caller.is_trusting_pi() {
            return trust.lets_pi_load(cwd);
        }
        trust.of(cwd).is_trusted()
    }

    /// Keeps the kind of child and the model of a task without a definition for the runs that
    /// continue it: nothing else names them.
    fn keep_child(&self, terms: &mut RunTerms, work: &ResolvedWork) {
        let runner = match self.destination {
            Destination::Here => Some(work.here.runner.choice()),
            // Its worker chose it.
            Destination::Fleet(_) => None,
        };
        terms.runner = terms.runner.or(runner);
        if terms.model.is_none() {
            terms.model.clone_from(&work.here.requested_model);
        }
    }

    /// Returns the limits of a task: its terms count before its definition, and that before its
    /// family and the settings.
    fn limits_of(&self, terms: &RunTerms, patch: Option<&PlanPatch>) -> Limits {
        let of_definition = patch.and_then(|patch| patch.definition.timeout);
        let default = Limits {
            timeout: of_definition.or(self.family.timeout),
            turns: patch
                .and_then(|patch| patch.definition.max_turns)
                .or(self.configuration.settings.max_turns),
            ..self.configuration.settings.limits()
        };
        Limits::of(terms, default)
    }
}

/// Keeps the sandbox that somebody has chosen: a run that continues this one has at least that. What
/// follows from the tools of this run says nothing about a run with others.
fn keep_sandbox(terms: &mut RunTerms, work: &ResolvedWork) {
    let sandbox = &work.work.sandbox;
    match work.here.sandbox_origin {
        SandboxOrigin::Chosen => {}
        SandboxOrigin::Tools => return,
    }
    let is_on = !sandbox.is_off();
    terms.sandbox = is_on.then_some(sandbox.level);
    terms.network = is_on.then(|| sandbox.network.clone());
}

/// Adds the level of a run to the summary of its definition.
fn with_sandbox(summary: &str, sandbox: Option<&Sandbox>) -> String {
    match sandbox {
        Some(sandbox) if !sandbox.is_off() && !summary.is_empty() => {
            format!("{summary}, sandbox={}", sandbox.level)
        }
        Some(_) | None => summary.to_owned(),
    }
}

/// Returns the condition under which a task counts as done.
fn completion_of(schema: Option<OutputSchema>, patch: Option<&PlanPatch>) -> Completion {
    if schema.is_some() || patch.is_some_and(|patch| patch.definition.finalize) {
        Completion::Finalized {
            corrections: CORRECTIONS,
            schema,
        }
    } else {
        Completion::LastMessage
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
