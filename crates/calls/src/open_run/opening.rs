//! From a resolved task to its part of the plan, with a run directory and a record.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_agent::{HandedServers, is_everyday};
use pi_subagents_configuration::Asker;
use pi_subagents_records::{NewRun, OwnerName, RunDir, SessionTools, Store, tools_of_session};
use pi_subagents_vocabulary::{
    FedPrompt, Here, McpServer, ModelChoice, Refusal, RunId, RunTerms, Secret, ServerReach, Setup,
    SharedCheckout, Task, TaskPlan, Timestamp, ToolPolicy, Work,
};

use super::confinement::ConfinedTask;
use super::conversation::ChildConversation;
use super::files::RunFiles;
use super::kept_tools::{changes, usual_tools};
use super::reachable_models::keep_reachable;
use super::worktree::{PlannedWorktree, Wish, plan};
use crate::elsewhere::Departure;
use crate::opened_task::{OpenedTask, OpenedWork};
use crate::request::TaskRequest;
use crate::resolve::{ResolvedTask, ResolvedWork, Resolver, RunPlace};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random;

/// Opens the runs of one call for an owner.
pub struct Opening<'a> {
    pub resolver: Resolver<'a>,
    pub(crate) store: &'a Store,
    pub(super) owner: &'a OwnerName,
    /// The way to other machines, if the call works there.
    departure: Option<&'a dyn Departure>,
}

/// A task whose child can be started.
pub(super) struct Ready {
    pub(super) task: ResolvedWork,
    pub(super) files: RunFiles,
    pub(super) conversation: ChildConversation,
    /// The worktree that is made for it.
    pub(super) worktree: Option<PlannedWorktree>,
    /// The command that prepares it.
    pub(super) setup: Option<Setup>,
    /// Directories of other runs, which a sandbox hides from it.
    pub(super) others: Vec<PathBuf>,
}

impl<'a> Opening<'a> {
    /// Opens runs for an owner. A call for a fleet brings the way there.
    pub fn new(
        resolver: Resolver<'a>,
        store: &'a Store,
        owner: &'a OwnerName,
        departure: Option<&'a dyn Departure>,
    ) -> Self {
        Self {
            resolver,
            store,
            owner,
            departure,
        }
    }

    /// Returns whether the runs work in a fleet.
    pub(crate) fn is_for_fleet(&self) -> bool {
        self.departure.is_some()
    }

    /// Gives a refused task of a refused call its ids. Nothing is made for it: the call leaves no
    /// trace. Returns `None` for a task that is not refused.
    pub(crate) fn refuse(resolved: ResolvedTask) -> Result<Option<OpenedTask>, CommandError> {
        let ResolvedTask {
            request,
            session,
            cwd,
            definition,
            timeout,
            terms: _,
            work,
        } = resolved;
        let Err(refusal) = work else {
            return Ok(None);
        };
        let place = request.place();
        let run = random::new_run_id()?;
        let task = Arc::new(Task {
            definition,
            timeout,
            accepted_at: Some(Timestamp::now()),
            ..Task::new(run, session, request.name, request.prompt, cwd)
        });
        Ok(Some(OpenedTask {
            task,
            place,
            fed: None,
            work: Err(refusal),
        }))
    }

    /// Opens the run of one task, ready or refused. Once the directory of the run is there,
    /// `converse` prepares the prompt of the child and the place of its conversation.
    pub(crate) fn open_run(
        &self,
        resolved: ResolvedTask,
        warnings: &mut Vec<String>,
        converse: impl FnOnce(&Path, Option<&RunDir>) -> Result<ChildConversation, Refusal>,
    ) -> Result<OpenedTask, CommandError> {
        let request = resolved.request;
        let run = random::new_run_id()?;
        let directory = self.make_directory(&run, &request.name, warnings);
        let about_runner = resolved.work.as_ref().ok();
        let about_runner = about_runner.and_then(|task| task.here.warning.clone());
        // It is the same for all tasks of a call.
        warnings.extend(about_runner.filter(|warning| !warnings.contains(warning)));
        let mut cwd = resolved.cwd.clone();
        let ready = resolved.work.and_then(|mut task| {
            let caller = self.resolver.caller;
            let worktree = plan(&Wish {
                place: if self.is_for_fleet() {
                    // On its worker it has a directory of its own.
                    &RunPlace::Checkout
                } else {
                    &task.here.place
                },
                cwd: &resolved.cwd,
                name: &request.name,
                run: &run,
                directory: directory.as_ref(),
                home: &caller.places.home,
                agent_dir: &caller.places.agent_dir,
                settings: &self.resolver.configuration.settings.worktrees,
            })?;
            let isolated = worktree.as_ref().map(|worktree| &worktree.isolated);
            let files = RunFiles::write(&task, &self.resolver, directory.as_ref(), isolated)?;
            let conversation = converse(&resolved.cwd, directory.as_ref())?;
            task.work.prompt.clone_from(&conversation.prompt);
            if let Some(isolated) = isolated {
                cwd.clone_from(&isolated.cwd);
            }
            let of_definition = task
                .here
                .patch
                .as_ref()
                .map_or(&[][..], |patch| &patch.warnings);
            let told = of_definition
                .iter()
                .chain(&task.here.doubts)
                .chain(&conversation.warnings);
            warnings.extend(told.map(|warning| format!("{}: {warning}", request.name)));
            Ok(Ready {
                task,
                files,
                conversation,
                worktree,
                setup: None,
                others: Vec::new(),
            })
        });
        let fed = ready.as_ref().ok();
        let fed = fed.and_then(|ready| fed_prompt(&request, &ready.conversation.prompt));
        let session = ready.as_ref().ok();
        let session = session.and_then(|ready| ready.conversation.session.file());
        let session_tools = session.and_then(tools_of_session);
        let task = Arc::new(Task {
            run,
            session: resolved.session,
            name: request.name.clone(),
            prompt: request.prompt.clone(),
            cwd,
            definition: resolved.definition,
            timeout: resolved.timeout,
            directory: directory.map(|made| made.path().to_owned()),
            record_limit: self.resolver.configuration.settings.max_run_disk,
            known_tools: session_tools.as_ref().map(|tools| tools.now.clone()),
            requested_model: ready
                .as_ref()
                .ok()
                .and_then(|ready| ready.task.here.requested_model.clone()),
            test_commands: self.resolver.configuration.settings.test_commands.clone(),
            has_schema: ready
                .as_ref()
                .is_ok_and(|ready| ready.task.work.schema().is_some()),
            sandbox: ready
                .as_ref()
                .map(|ready| ready.task.work.sandbox.clone())
                .unwrap_or_default(),
            call_budget: ready
                .as_ref()
                .map(|ready| ready.task.here.budgets.call)
                .unwrap_or_default(),
            accepted_at: Some(Timestamp::now()),
            call: request.call.clone(),
        });
        self.record(
            &request,
            &resolved.terms,
            &task,
            ready.as_ref().ok(),
            warnings,
        );
        // The next command after a crash finds a worktree by the record of its run.
        let ready = ready.and_then(|mut ready| {
            if let Some(worktree) = ready.worktree.take() {
                ready.setup = worktree.make()?;
            }
            Ok(ready)
        });
        let work = ready.and_then(|ready| match self.departure {
            None => {
                let (plan, doubts) = self.plan(&task.cwd, ready, session_tools.as_ref())?;
                let doubts = doubts.iter();
                warnings.extend(doubts.map(|doubt| format!("{}: {doubt}", request.name)));
                Ok(OpenedWork::Here(Box::new(plan)))
            }
            Some(departure) => {
                departure.take(&task, ready.task, self.agent_of(&task))?;
                Ok(OpenedWork::Elsewhere)
            }
        });
        Ok(OpenedTask {
            place: request.place(),
            fed,
            task,
            work,
        })
    }

    /// Makes the directory of a run; a run without a directory has no record, but it runs.
    fn make_directory(
        &self,
        run: &RunId,
        name: &str,
        warnings: &mut Vec<String>,
    ) -> Option<RunDir> {
        let runs_dir = self.resolver.configuration.settings.runs_dir.clone();
        let store = self.store.with_runs_dir(runs_dir);
        match store.make_directory(self.resolver.caller.places.real_project(), run) {
            Ok(directory) => Some(directory),
            Err(error) => {
                let cause = with_cause(&error);
                warnings.push(format!("{name}: this run has no record: {cause}"));
                None
            }
        }
    }

    /// Writes down that the run begins.
    fn record(
        &self,
        request: &TaskRequest,
        terms: &RunTerms,
        task: &Task,
        ready: Option<&Ready>,
        warnings: &mut Vec<String>,
    ) {
        let here = ready.map(|ready| &ready.task.here);
        let begun = self.store.begin(&NewRun {
            task,
            project: &self.resolver.caller.places.project,
            owner: &self.owner_name(),
            runner: here.map(|here| here.runner.as_str()),
            model: here.and_then(|here| here.resolved_model.as_deref()),
            terms: Some(terms),
            tools: here.and_then(|here| match &here.patch.as_ref()?.tools {
                ToolPolicy::Only(names) => Some(names.clone()),
                ToolPolicy::Inherit | ToolPolicy::Nothing | ToolPolicy::AllExcept(_) => None,
            }),
            system_prompt: ready.and_then(|ready| ready.files.system_prompt()),
            sticky_agent: match self.resolver.family.asker {
                Asker::Subagent => request.agent_name(),
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

    /// Returns the owner of the runs: this process, which only follows those of a fleet.
    fn owner_name(&self) -> OwnerName {
        OwnerName {
            fleet: self.departure.map(|fleet| fleet.name().to_owned()),
            caller: Some(self.resolver.caller.name.clone()),
            ..self.owner.clone()
        }
    }

    /// Returns the agent whose conversation a task continues, if it continues one.
    fn agent_of<'t>(&self, task: &'t Task) -> Option<&'t str> {
        match self.resolver.family.asker {
            Asker::Subagent => task.definition.as_ref().map(|used| used.name.as_str()),
            Asker::Delegation => None,
        }
    }

    /// Returns the checkout that a run in this directory shares with others.
    fn shared_checkout(&self, cwd: &Path) -> SharedCheckout {
        let places = &self.resolver.caller.places;
        let root = places.never_projects.project_of(cwd);
        let root = root.unwrap_or_else(|| cwd.to_owned());
        let mut name = DefaultHasher::new();
        root.hash(&mut name);
        let name = format!("{:016x}", name.finish());
        let locks = places.agent_dir.join("subagents-locks");
        SharedCheckout {
            gate_lock: locks.join(format!("{name}.gate")),
            work_lock: locks.join(format!("{name}.work")),
            root,
        }
    }

    /// Returns the plan of a task whose directory is made, and what people should know about it.
    pub(super) fn plan(
        &self,
        cwd: &Path,
        ready: Ready,
        session_tools: Option<&SessionTools>,
    ) -> Result<(TaskPlan, Vec<String>), Refusal> {
        let Ready {
            task:
                ResolvedWork {
                    mut work,
                    here: mut found,
                },
            mut files,
            conversation,
            worktree: _,
            setup,
            mut others,
        } = ready;
        others.extend(self.resolver.configuration.settings.fleet.nkey.clone());
        let shared = matches!(found.place, RunPlace::Checkout).then(|| self.shared_checkout(cwd));
        let of_definition = found.patch.as_ref();
        let command = of_definition.map_or(&[][..], |patch| &patch.definition.command);
        let program = self.resolver.runners.program(found.runner, command);
        let program = program.map_err(|message| Refusal { message })?;
        let mut arguments = files.arguments(&found.skills);
        let mut doubts = if found.runner.reads_context_safely() {
            Vec::new()
        } else {
            self.add_context(cwd, &mut files, &work.arguments, &mut arguments)?
        };
        if program.keeps_tools && !work.tools.names_all() {
            let project = work.trusted.then_some(cwd);
            let usual = usual_tools(&self.resolver.caller.places.agent_dir, project);
            let changes =
                session_tools.and_then(|tools| changes(tools, &usual, work.must_report()));
            arguments.extend(
                changes
                    .into_iter()
                    .flat_map(|all| ["--tools".to_owned(), all]),
            );
        }
        let (wrap_up, ask) = (files.wrap_up(), files.ask.take());
        files.add_sandbox(cwd, &work.sandbox)?;
        doubts.extend(keep_reachable(&mut found.fallbacks, &work.sandbox));
        let confined = ConfinedTask {
            work: &work,
            runner: found.runner,
            program: &program,
            session: &conversation.session,
            given_key: found.api_key.as_ref(),
            cwd,
            directory: files.directory.as_deref(),
            read: &found.skills,
            others: &others,
            host_servers: &self.resolver.caller.overrides.host_servers,
        };
        let (confinement, found_key) = match confined.plan(&self.resolver.caller.places) {
            None => (None, None),
            Some(Ok(planned)) => {
                name_model(&mut work.model, planned.model);
                (Some(Ok(planned.confinement)), planned.key)
            }
            Some(Err(refusal)) => (Some(Err(refusal)), None),
        };
        let here = Here {
            runner: found.runner,
            confinement,
            program,
            wrap_up,
            ask,
            system_prompt: files.prompts.policy,
            session: conversation.session,
            budgets: found.budgets,
            setup,
            shared,
            arguments,
            fallbacks: found.fallbacks,
            api_key: found.api_key.or(found_key),
            server_variables: server_variables(&work, &self.resolver.caller.places),
        };
        Ok((TaskPlan { work, here }, doubts))
    }

    /// Lets a pi child read no `AGENTS.md` itself, and hands it ours unless its definition has
    /// switched these files off.
    fn add_context(
        &self,
        cwd: &Path,
        files: &mut RunFiles,
        of_definition: &[String],
        arguments: &mut Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        const OFF: [&str; 2] = ["--no-context-files", "-nc"];
        if of_definition
            .iter()
            .any(|argument| OFF.contains(&argument.as_str()))
        {
            return Ok(Vec::new());
        }
        arguments.push(OFF[0].to_owned());
        files.add_context(cwd, &self.resolver.caller.places)
    }
}

/// Returns the variables that servers name, and the servers of the user's `mcp.json`, which a confined
/// child does not see. A variable that is not set is missed by its server, which says so.
fn server_variables(work: &Work, places: &Places) -> BTreeMap<String, Secret> {
    let servers = &work.mcp_servers.0;
    let is_configured = |server: &&McpServer| server.reach == ServerReach::Configured;
    let configured = servers.iter().filter(is_configured);
    let configured: Vec<&str> = configured.map(|server| server.name.as_str()).collect();
    let is_hidden = !work.sandbox.is_off() && !configured.is_empty();
    let handed = is_hidden.then(|| HandedServers::read(&configured, &places.agent_dir));
    let named = servers.iter().flat_map(McpServer::variables);
    let named = named.chain(handed.iter().flat_map(|handed| handed.named.clone()));
    let named = named.filter(|name| !is_everyday(name));
    let set = named.filter_map(|name| {
        let value = places.variable(&name)?.to_str()?;
        Some((name, Secret::new(value)))
    });
    let mut variables: BTreeMap<String, Secret> = set.collect();
    let handed = handed.map(|handed| (handed.variable.to_owned(), Secret::new(handed.entries)));
    variables.extend(handed);
    variables
}

/// Returns the prompt of a task that gets the results of others: everything before the prompt of the
/// task itself is as it is.
fn fed_prompt(request: &TaskRequest, whole: &str) -> Option<FedPrompt> {
    let template = request
        .template
        .clone()
        .filter(|_| !request.needs.is_empty())?;
    let before = whole
        .strip_suffix(&request.prompt)
        .unwrap_or_default()
        .to_owned();
    Some(FedPrompt {
        before,
        template,
        item_of: request.item_of.clone(),
    })
}

/// Names the model that was found, unless the task names one.
fn name_model(choice: &mut ModelChoice, found: Option<(String, String)>) {
    if let (ModelChoice::Inherit, Some((provider, model))) = (&*choice, found) {
        *choice = ModelChoice::Named {
            provider: Some(provider),
            model: Some(model),
            thinking: None,
        };
    }
}

pub(super) fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
