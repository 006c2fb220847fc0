//! A prepared task → its part of the plan, with a run directory and a record.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_definitions::{Asker, PlanPatch};
use pi_subagents_delegation::{
    Completion, Limits, ModelChoice, PlannedTask, Refusal, Runner, Task, TaskPlan, ToolPolicy,
    UsedDefinition,
};
use pi_subagents_sessions::{NewRun, RunDir, SessionTools, tools_of_session};

use super::asked::{Asked, Conversation};
use super::files::RunFiles;
use super::kept_tools::{changes, usual_tools};
use super::prepare::{Lowering, Prepared};
use crate::calls::child_extension::key_for;
use crate::calls::definition_use::{DefinitionUse, find_definition, used};
use crate::error::CommandError;
use crate::random;

/// How often a child that must report is told so.
const CORRECTIONS: u32 = 3;

impl Lowering<'_> {
    /// Plans one task, ready or refused. `converse` says what the child is told and where it keeps
    /// that, once the directory of the run is there.
    pub(crate) fn plan(
        &self,
        asked: &Asked<'_>,
        prepared: Result<Prepared, Refusal>,
        warnings: &mut Vec<String>,
        converse: impl FnOnce(&Prepared, Option<&RunDir>) -> Result<Conversation, Refusal>,
    ) -> Result<PlannedTask, CommandError> {
        let run = random::new_run_id()?;
        let made = self
            .owner
            .store
            .with_runs_dir(self.configuration.settings.runs_dir.clone())
            .make_directory(self.caller.places.real_project(), &run);
        if let Err(error) = &made {
            let cause = with_cause(error);
            warnings.push(format!("{}: this run has no record: {cause}", asked.name));
        }
        let directory = made.ok();
        let about_runner = prepared.as_ref().ok().and_then(|one| one.warning.clone());
        // It is the same for all tasks of a call.
        warnings.extend(about_runner.filter(|warning| !warnings.contains(warning)));
        let definition = definition_of(&prepared);
        let mut task = Task {
            run,
            session: asked.session.clone(),
            name: asked.name.clone(),
            prompt: asked.prompt.to_owned(),
            cwd: match &prepared {
                Ok(prepared) => prepared.cwd.clone(),
                Err(_) => self.caller.places.cwd.clone(),
            },
            definition: self.used_definition(asked, &prepared),
            timeout: self.timeout_of(asked, definition),
            directory: directory.as_ref().map(|made| made.path().to_owned()),
            record_limit: self.configuration.settings.max_run_disk,
            known_tools: None,
        };
        let ready = prepared.and_then(|prepared| {
            let files = RunFiles::write(&prepared, self.caller, directory.as_ref())?;
            let conversation = converse(&prepared, directory.as_ref())?;
            let patch = prepared.definition.as_ref().map(|used| &used.patch);
            let of_definition = patch.map_or(&[][..], |patch| &patch.warnings);
            let told = of_definition.iter().chain(&conversation.warnings);
            warnings.extend(told.map(|warning| format!("{}: {warning}", asked.name)));
            Ok((prepared, files, conversation))
        });
        let session = ready
            .as_ref()
            .ok()
            .and_then(|(_, _, conversation)| conversation.session.file());
        let session_tools = session.and_then(tools_of_session);
        task.known_tools = session_tools.as_ref().map(|tools| tools.now.clone());
        let task = Arc::new(task);
        self.record(asked, &task, ready.as_ref().ok(), warnings);
        let work = ready.map(|ready| Box::new(self.work(asked, ready, session_tools.as_ref())));
        Ok(PlannedTask { task, work })
    }

    /// The definition a task has, also where it is the reason why the task is refused.
    fn used_definition(
        &self,
        asked: &Asked<'_>,
        prepared: &Result<Prepared, Refusal>,
    ) -> Option<UsedDefinition> {
        if let Ok(prepared) = prepared {
            return Some(UsedDefinition {
                model: prepared.model.choice.clone(),
                ..prepared.definition.as_ref()?.used.clone()
            });
        }
        let name = asked.definition?;
        let found = find_definition(
            name,
            self.family.asker,
            self.configuration,
            self.caller.door,
        );
        Some(found.map_or_else(|_| unknown(name), used))
    }

    /// Writes down that the run begins.
    fn record(
        &self,
        asked: &Asked<'_>,
        task: &Task,
        ready: Option<&(Prepared, RunFiles, Conversation)>,
        warnings: &mut Vec<String>,
    ) {
        let prepared = ready.map(|(prepared, ..)| prepared);
        let model = prepared.map(|prepared| &prepared.model);
        let begun = self.owner.store.begin(&NewRun {
            task,
            project: &self.caller.places.project,
            owner: &self.owner.name,
            runner: prepared.map(|prepared| prepared.runner.as_str()),
            requested_model: model.and_then(|model| model.requested.as_deref()),
            model: model.and_then(|model| model.resolved.as_deref()),
            tools: prepared.and_then(|prepared| {
                match prepared.definition.as_ref().map(|used| &used.patch.tools) {
                    Some(ToolPolicy::Only(names)) => Some(names.clone()),
                    Some(ToolPolicy::Inherit | ToolPolicy::Nothing | ToolPolicy::AllExcept(_))
                    | None => None,
                }
            }),
            system_prompt: ready.and_then(|(_, files, _)| files.system_prompt()),
            sticky_agent: match self.family.asker {
                Asker::Subagent => asked.definition,
                Asker::Delegation => None,
            },
        });
        if let Err(error) = begun {
            warnings.push(format!(
                "{}: the record of this run is incomplete: {}",
                task.name,
                with_cause(&error)
            ));
        }
    }

    fn work(
        &self,
        asked: &Asked<'_>,
        (prepared, files, conversation): (Prepared, RunFiles, Conversation),
        session_tools: Option<&SessionTools>,
    ) -> TaskPlan {
        let settings = &self.configuration.settings;
        let timeout = self.timeout_of(asked, prepared.definition.as_ref());
        let trusted = self.lets_child_load(&prepared);
        let patch = prepared.definition.map(|definition| definition.patch);
        let tools = self.tools_of(patch.as_ref());
        let must_report = patch.as_ref().is_some_and(|patch| patch.finalize);
        let mut extra_arguments = files.further_arguments(patch.as_ref());
        if prepared.program.keeps_tools && !tools.names_all() {
            let project = trusted.then_some(prepared.cwd.as_path());
            let usual = usual_tools(&self.caller.places.agent_dir, project);
            let changes = session_tools.and_then(|tools| changes(tools, &usual, must_report));
            extra_arguments.extend(
                changes
                    .into_iter()
                    .flat_map(|all| ["--tools".to_owned(), all]),
            );
        }
        let model = prepared.model.choice;
        let api_key = patch.as_ref().and_then(|patch| key_for(patch, &model));
        TaskPlan {
            runner: prepared.runner,
            program: prepared.program,
            prompt: conversation.prompt,
            model,
            extra_arguments,
            system_prompt: files.prompts.policy,
            tools,
            session: conversation.session,
            completion: if must_report {
                Completion::Finalized {
                    corrections: CORRECTIONS,
                }
            } else {
                Completion::LastMessage
            },
            limits: Limits {
                timeout,
                extension: settings.extend_timeout_debounce,
                repetitions: settings.looping_tool_count,
                allowance: self.caller.overrides.allowance.or(settings.allowance),
            },
            trusted,
            api_key,
        }
    }

    /// Tells whether the child may load what the directory configures for it. The embedded agent
    /// reads settings and skills and runs nothing of a project; a pi would also run its extensions
    /// and MCP servers, about which only pi's own question asks.
    fn lets_child_load(&self, prepared: &Prepared) -> bool {
        let trust = &self.configuration.trust;
        match prepared.runner {
            Runner::Embedded => trust.of(&prepared.cwd).is_trusted(),
            Runner::Pi if self.caller.is_trusting_pi() => trust.of(&prepared.cwd).is_trusted(),
            Runner::Pi => trust.lets_pi_load(&prepared.cwd),
        }
    }

    fn tools_of(&self, patch: Option<&PlanPatch>) -> ToolPolicy {
        match (&self.caller.overrides.tools, patch) {
            (Some(tools), _) => ToolPolicy::Only(tools.clone()),
            (None, Some(patch)) => patch.tools.clone(),
            (None, None) => ToolPolicy::Inherit,
        }
    }

    fn timeout_of(
        &self,
        asked: &Asked<'_>,
        definition: Option<&DefinitionUse>,
    ) -> Option<Duration> {
        asked
            .timeout
            .or(self.caller.overrides.timeout)
            .or(definition.and_then(|definition| definition.patch.timeout))
            .or(self.family.timeout)
    }
}

fn definition_of(prepared: &Result<Prepared, Refusal>) -> Option<&DefinitionUse> {
    prepared.as_ref().ok()?.definition.as_ref()
}

/// Returns what is known of a definition that cannot be found: its name.
fn unknown(name: &str) -> UsedDefinition {
    UsedDefinition {
        name: name.to_owned(),
        summary: String::new(),
        model: ModelChoice::Inherit,
        file: None,
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
