//! From a resolved task to its order: the task without the parts that belong to this machine. A
//! part that cannot travel is refused by its name, before anything is sent.

use std::path::{Component, Path};

use pi_subagents_definitions::PlanPatch;
use pi_subagents_delegation::{
    Completion, Dollars, Gate, ModelChoice, Refusal, RunnerChoice, Task, Timestamp, ToolPolicy,
    WorkspaceChoice,
};
use pi_subagents_files::read_own_text;
use pi_subagents_fleet::wire::{
    Conversation, FORMAT, Model, Order, OrderCompletion, OrderDefinition, OrderGate, OrderLimits,
    OrderSkill, OrderSystemPrompt, OrderTools, Workspace,
};

use super::Destination;
use crate::calls::resolve::ResolvedWork;

/// A longer skill does not travel.
const LONGEST_SKILL: u64 = 256 << 10;

/// A call whose runs go to a fleet.
#[derive(Debug, Clone)]
pub(crate) struct FleetCall {
    /// Its id, under which its caller's lease is kept.
    pub(crate) id: String,
    /// The caller, as `user@machine`.
    pub(crate) caller: String,
    /// True if its runs end when nobody waits for them any more.
    pub(crate) is_waited_for: bool,
    pub(crate) destination: Destination,
}

/// The parts of an order beside its task.
pub(crate) struct Ordered<'a> {
    pub(crate) task: &'a Task,
    pub(crate) work: ResolvedWork,
    pub(crate) runner: RunnerChoice,
    /// The whole prompt.
    pub(crate) prompt: String,
    pub(crate) completion: Completion,
}

/// Makes the order of a task. Where its files come from is filled in when they are sent.
pub(crate) fn order_of(ordered: Ordered<'_>, call: &FleetCall) -> Result<Order, Refusal> {
    let Ordered {
        task,
        work,
        runner,
        prompt,
        completion,
    } = ordered;
    let patch = work.patch.as_ref();
    if work.api_key.is_some() {
        return Err(cannot_travel("apiKey", "a worker has keys of its own"));
    }
    let has_files = call.destination.workspace != WorkspaceChoice::None;
    Ok(Order {
        format: FORMAT,
        run: task.run.to_string(),
        session: task.session.to_string(),
        call: call.id.clone(),
        name: task.name.clone(),
        caller: call.caller.clone(),
        asked: task.prompt.clone(),
        prompt,
        relative_cwd: String::new(),
        definition: task.definition.as_ref().map(|used| OrderDefinition {
            name: used.name.clone(),
            summary: used.summary.clone(),
        }),
        runner: runner.as_str().to_owned(),
        model: model(&work.model.choice),
        system_prompt: OrderSystemPrompt {
            replace: patch.and_then(|patch| patch.system_prompt.clone()),
            append: patch
                .and_then(|patch| patch.append_system_prompt.clone())
                .into_iter()
                .collect(),
        },
        tools: tools(&work.tools),
        skills: patch.map_or(Ok(Vec::new()), skills)?,
        requires: requires(&work.gates),
        gates: work.gates.iter().map(gate).collect(),
        completion: match completion {
            Completion::LastMessage => OrderCompletion::Settled,
            // A task with a schema is not sent away.
            Completion::Finalized { corrections, .. } => OrderCompletion::Finalized(corrections),
        },
        limits: OrderLimits {
            timeout: work.limits.timeout.map(|time| time.as_secs_f64()),
            extension: work.limits.extension.as_secs_f64(),
            repetitions: work.limits.repetitions,
            tokens: work.limits.allowance.tokens,
            cost: work.limits.allowance.cost.map(Dollars::amount),
            turns: None,
        },
        trusted: work.trusted,
        arguments: patch.map_or(Ok(Vec::new()), |patch| arguments(patch, has_files))?,
        conversation: Conversation::Fresh,
        workspace: Workspace::None,
        lease: call.is_waited_for.then(|| call.id.clone()),
        retries: call.destination.retries,
        issued: Timestamp::now().to_string(),
    })
}

/// Returns what a worker must know in order to take an order with these gates.
fn requires(gates: &[Gate]) -> Vec<String> {
    let features = (!gates.is_empty()).then(|| Order::GATE.to_owned());
    features.into_iter().collect()
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

fn model(choice: &ModelChoice) -> Model {
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

fn tools(policy: &ToolPolicy) -> OrderTools {
    match policy {
        ToolPolicy::Inherit => OrderTools::Default,
        ToolPolicy::Nothing => OrderTools::None,
        ToolPolicy::Only(names) => OrderTools::Only(names.clone()),
        ToolPolicy::AllExcept(names) => OrderTools::AllExcept(names.clone()),
    }
}

/// Reads the skills that a definition offers: their files are not on the worker.
fn skills(patch: &PlanPatch) -> Result<Vec<OrderSkill>, Refusal> {
    let read = |path: &std::path::PathBuf| {
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
    patch.skills.iter().map(read).collect()
}

/// Returns the arguments of the child. None of them may name a file that stays here.
fn arguments(patch: &PlanPatch, has_files: bool) -> Result<Vec<String>, Refusal> {
    for extension in &patch.extensions {
        if is_path(extension) && (!has_files || leads_out(extension)) {
            let why = format!("{extension} is not in the files that travel");
            return Err(cannot_travel("extensions", &why));
        }
    }
    if let Some(argument) = patch.extra_args.iter().find(|argument| leads_out(argument)) {
        let why = format!("{argument} names a file of this machine");
        return Err(cannot_travel("extraArgs", &why));
    }
    let without_files = PlanPatch {
        skills: Vec::new(),
        ..patch.clone()
    };
    Ok(without_files.further_arguments())
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
