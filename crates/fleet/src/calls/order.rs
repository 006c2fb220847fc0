//! From a resolved task to its order: the task without the parts that belong to this machine. A
//! part that cannot travel is refused by its name, before anything is sent.

use std::path::{Component, Path, PathBuf};

use pi_subagents_configuration::PlanPatch;
use pi_subagents_files::read_own_text;
use pi_subagents_fleet_queue::wire::{
    Conversation, FORMAT, Model, Order, OrderCompletion, OrderDefinition, OrderGate, OrderLimits,
    OrderSkill, OrderSystemPrompt, OrderTools, Workspace,
};
use pi_subagents_vocabulary::{
    Allowance, Completion, Dollars, Gate, Limits, ModelChoice, OutputSchema, Refusal, Task,
    Timestamp, ToolPolicy, WorkspaceChoice,
};

use super::begin::check_beginning;
use pi_subagents_calls::destination::FleetDestination;
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_calls::open_run::Ordered;
use pi_subagents_calls::resolve::ResolvedWork;

/// A longer skill does not travel.
const LONGEST_SKILL: u64 = 256 << 10;

/// A call whose runs go to a fleet.
#[derive(Debug, Clone)]
pub(crate) struct FleetCall {
    /// Its id, under which its caller's lease is kept.
    pub(crate) id: String,
    /// The caller, as `user@machine`.
    pub(crate) caller: String,
    pub(crate) waiting: Waiting,
    pub(crate) destination: FleetDestination,
}

/// Refuses a task with a part that cannot travel, by its name, before anything is sent.
pub(crate) fn may_travel(
    work: &ResolvedWork,
    destination: &FleetDestination,
) -> Result<(), Refusal> {
    if work.api_key.is_some() {
        return Err(cannot_travel("apiKey", "a worker has keys of its own"));
    }
    let has_files = destination.workspace != WorkspaceChoice::None;
    if let Some(patch) = &work.patch {
        check_arguments(patch, has_files)?;
        skills(&patch.skills)?;
    }
    check_beginning(&work.place, destination.workspace)
}

/// Makes the order of a task. Its files and its conversation are filled in when they are sent.
///
/// Every field of a task is named here, so that a new one cannot be forgotten: it travels, or it is
/// refused, or a comment says why the worker decides it.
pub(crate) fn order_of(ordered: Ordered<'_>, call: &FleetCall) -> Result<Order, Refusal> {
    let Ordered {
        task,
        work,
        prompt,
        completion,
    } = ordered;
    let Task {
        run,
        session,
        name,
        prompt: asked,
        definition,
        // It is in the limits.
        timeout: _,
        // The order gets its directory in the workspace with the files.
        cwd: _,
        // The worker has a directory, a limit of its disk and tools of its own.
        directory: _,
        record_limit: _,
        known_tools: _,
        // The copy of the record is judged on this machine.
        test_commands: _,
        has_schema: _,
    } = task;
    let ResolvedWork {
        model,
        patch,
        tools,
        choice,
        gates,
        schema,
        limits,
        trusted,
        // The files that are sent begin from it.
        place: _,
        // The worker finds it by the wish of the task.
        runner: _,
        // A task with a key of its own was refused.
        api_key: _,
        // The caller has heard them.
        warning: _,
        doubts: _,
    } = work;
    let patch = patch.map(carried).transpose()?;
    let Carried {
        system_prompt,
        skills,
        arguments,
    } = patch.unwrap_or_default();
    Ok(Order {
        format: FORMAT,
        run: run.to_string(),
        session: session.to_string(),
        call: call.id.clone(),
        name: name.clone(),
        caller: call.caller.clone(),
        asked: asked.clone(),
        prompt,
        relative_cwd: String::new(),
        definition: definition.as_ref().map(|used| OrderDefinition {
            name: used.name.clone(),
            summary: used.summary.clone(),
        }),
        runner: choice.as_str().to_owned(),
        model: order_model(&model.choice),
        system_prompt,
        tools: order_tools(&tools),
        skills,
        requires: requires(&gates, schema.as_ref()),
        gates: gates.iter().map(gate).collect(),
        output_schema: schema.map(|schema| schema.source().clone()),
        completion: match completion {
            Completion::LastMessage => OrderCompletion::Settled,
            // The schema has a field of its own.
            Completion::Finalized {
                corrections,
                schema: _,
            } => OrderCompletion::Finalized(corrections),
        },
        limits: order_limits(&limits),
        trusted,
        arguments,
        conversation: Conversation::Fresh,
        workspace: Workspace::None,
        lease: (call.waiting == Waiting::Somebody).then(|| call.id.clone()),
        retries: call.destination.retries,
        issued: Timestamp::now().to_string(),
    })
}

/// The parts of a definition that travel as they are.
#[derive(Default)]
struct Carried {
    system_prompt: OrderSystemPrompt,
    skills: Vec<OrderSkill>,
    arguments: Vec<String>,
}

/// Returns the parts of a definition that travel.
fn carried(patch: PlanPatch) -> Result<Carried, Refusal> {
    let arguments = arguments(&patch);
    let PlanPatch {
        system_prompt,
        append_system_prompt,
        skills: files,
        // The arguments have a part of it, and the task was resolved with the rest.
        definition: _,
        model: _,
        tools: _,
        output_schema_file: _,
        // The caller has heard the warnings, and the order names the definition.
        title: _,
        warnings: _,
    } = patch;
    Ok(Carried {
        system_prompt: OrderSystemPrompt {
            replace: system_prompt,
            append: append_system_prompt.into_iter().collect(),
        },
        skills: skills(&files)?,
        arguments,
    })
}

/// Returns the features that a worker must know in order to take an order with these gates and this
/// schema.
fn requires(gates: &[Gate], schema: Option<&OutputSchema>) -> Vec<String> {
    let gate = (!gates.is_empty()).then_some(Order::GATE);
    let schema = schema.map(|_| Order::OUTPUT_SCHEMA);
    gate.into_iter().chain(schema).map(str::to_owned).collect()
}

fn order_limits(limits: &Limits) -> OrderLimits {
    let Limits {
        timeout,
        extension,
        repetitions,
        allowance: Allowance { tokens, cost },
    } = limits;
    OrderLimits {
        timeout: timeout.map(|time| time.as_secs_f64()),
        extension: extension.as_secs_f64(),
        repetitions: *repetitions,
        tokens: *tokens,
        cost: cost.map(Dollars::amount),
    }
}

fn gate(gate: &Gate) -> OrderGate {
    OrderGate {
        command: gate.command.clone(),
        timeout: gate.timeout.as_secs_f64(),
        retries: gate.retries,
    }
}

fn cannot_travel(part: &str, why: &str) -> Refusal {
    Refusal {
        message: format!(
            "{part}: this part of the definition cannot travel to a fleet: {why}. Use --on local, or a definition without it."
        ),
    }
}

fn order_model(choice: &ModelChoice) -> Model {
    match choice {
        ModelChoice::Inherit => Model::default(),
        ModelChoice::Named {
            provider,
            model,
            thinking,
        } => Model {
            provider: provider.clone(),
            model: model.clone(),
            thinking: thinking.map(|level| level.as_str().to_owned()),
        },
    }
}

fn order_tools(policy: &ToolPolicy) -> OrderTools {
    match policy {
        ToolPolicy::Inherit => OrderTools::Default,
        ToolPolicy::Nothing => OrderTools::None,
        ToolPolicy::Only(names) => OrderTools::Only(names.clone()),
        ToolPolicy::AllExcept(names) => OrderTools::AllExcept(names.clone()),
    }
}

/// Reads the skills that a definition offers: their files are not on the worker.
fn skills(files: &[PathBuf]) -> Result<Vec<OrderSkill>, Refusal> {
    let read = |path: &PathBuf| {
        let text = read_own_text(path, LONGEST_SKILL).map_err(|error| {
            cannot_travel(&format!("the skill {}", path.display()), &error.to_string())
        })?;
        // A skill is a file of its own name, or SKILL.md in a directory of its name.
        let file = path.file_stem().filter(|stem| *stem != "SKILL");
        let name = file.or_else(|| path.parent()?.file_name());
        let name = name.map_or("skill".into(), |name| name.to_string_lossy());
        Ok(OrderSkill {
            name: name.into_owned(),
            text,
        })
    };
    files.iter().map(read).collect()
}

/// Refuses arguments of the child that name a file which stays here.
fn check_arguments(patch: &PlanPatch, has_files: bool) -> Result<(), Refusal> {
    for extension in &patch.definition.extensions {
        if is_path(extension) && (!has_files || leads_out(extension)) {
            let why = format!("{extension} is not in the files that travel");
            return Err(cannot_travel("extensions", &why));
        }
    }
    if let Some(argument) = patch
        .definition
        .extra_args
        .iter()
        .find(|argument| leads_out(argument))
    {
        let why = format!("{argument} names a file of this machine");
        return Err(cannot_travel("extraArgs", &why));
    }
    Ok(())
}

/// Returns the arguments of the child.
fn arguments(patch: &PlanPatch) -> Vec<String> {
    let without_files = PlanPatch {
        skills: Vec::new(),
        ..patch.clone()
    };
    without_files.further_arguments()
}

/// Returns whether an extension is a file, and no package that the worker installs.
fn is_path(extension: &str) -> bool {
    !extension.contains(':')
}

/// Returns whether a value names something outside of the directory that a task works in.
fn leads_out(value: &str) -> bool {
    let value = value.split_once('=').map_or(value, |(_, value)| value);
    let path = Path::new(value);
    path.is_absolute()
        || value.starts_with('~')
        || path.components().any(|part| part == Component::ParentDir)
}
