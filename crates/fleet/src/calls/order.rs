//! From a resolved task to its order: its work, without the parts that belong to this machine. A
//! part without which the work cannot be done is refused by its name, before anything is sent.

use std::path::{Component, Path, PathBuf};

use pi_subagents_configuration::PlanPatch;
use pi_subagents_files::read_own_text;
use pi_subagents_fleet_queue::wire::{
    Conversation, FORMAT, Order, OrderDefinition, OrderSkill, SentWorkspace,
};
use pi_subagents_vocabulary::{Refusal, Task, Timestamp, Work, WorkspaceChoice};

use super::begin::check_beginning;
use pi_subagents_calls::destination::FleetDestination;
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_calls::resolve::{FoundHere, ResolvedWork};

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
///
/// The work of a task is sent as it is. Every field that belongs to this machine is named here, so
/// that a new one cannot be forgotten: it is refused, or a comment says why the worker needs nothing.
pub(crate) fn may_travel(
    resolved: &ResolvedWork,
    destination: &FleetDestination,
) -> Result<(), Refusal> {
    let FoundHere {
        patch,
        skills: files,
        api_key,
        place,
        // The worker finds its own by the wish of the task.
        runner: _,
        // It looks for the names in the work among its own models.
        fallbacks: _,
        // They are for the record, which this machine keeps.
        requested_model: _,
        resolved_model: _,
        // A worker decides about its own.
        sandbox_origin: _,
        // Their ledgers are here; the order has the share of its run as its limits.
        budgets: _,
        // They are for the caller.
        warning: _,
        doubts: _,
    } = &resolved.here;
    if api_key.is_some() {
        return Err(cannot_travel("apiKey", "a worker has its own keys"));
    }
    let has_files = destination.workspace != WorkspaceChoice::None;
    if let Some(patch) = patch {
        check_arguments(patch, has_files)?;
    }
    skills(files)?;
    check_beginning(place, destination.workspace)
}

/// The files and the conversation of an order, as they were sent.
pub(crate) struct OrderedFiles {
    pub(crate) workspace: SentWorkspace,
    pub(crate) relative_cwd: String,
    pub(crate) conversation: Conversation,
}

/// Makes the order of a task: its ids, its work as it is, and the files that the work needs.
pub(crate) fn order_of(
    task: &Task,
    resolved: ResolvedWork,
    files: OrderedFiles,
    call: &FleetCall,
) -> Result<Order, Refusal> {
    let ResolvedWork { work, here } = resolved;
    Ok(Order {
        format: FORMAT,
        run: task.run.to_string(),
        session: task.session.to_string(),
        call: call.id.clone(),
        name: task.name.clone(),
        caller: call.caller.clone(),
        asked: task.prompt.clone(),
        relative_cwd: files.relative_cwd,
        definition: task.definition.as_ref().map(|used| OrderDefinition {
            name: used.name.clone(),
            summary: used.summary.clone(),
        }),
        requires: requires(&work),
        work,
        skills: skills(&here.skills)?,
        conversation: files.conversation,
        workspace: files.workspace,
        lease: (call.waiting == Waiting::Somebody).then(|| call.id.clone()),
        retries: call.destination.retries,
        issued: Timestamp::now().to_string(),
    })
}

/// Returns the features that a worker must know in order to do this work.
fn requires(work: &Work) -> Vec<String> {
    let gate = (!work.gates.is_empty()).then_some(Order::GATE);
    let schema = work.schema().map(|_| Order::OUTPUT_SCHEMA);
    gate.into_iter().chain(schema).map(str::to_owned).collect()
}

fn cannot_travel(part: &str, why: &str) -> Refusal {
    Refusal {
        message: format!(
            "{part}: this part of the agent cannot be sent to a fleet: {why}. Use --on local, or an agent without it."
        ),
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
            let why = format!("{extension} is not among the files that are sent");
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
