//! Decides which gates a task has.

use pi_subagents_configuration::{PlanPatch, Settings};
use pi_subagents_vocabulary::{Gate, Refusal, RunTerms};

use super::task::RequestedTask;
use crate::caller::Caller;
use pi_subagents_vocabulary::Door;

/// Returns the gates of a task: those that were set for it, else those of its definition. A
/// model may name only commands that the user has listed, because it could run anything through a
/// gate, even without a shell.
pub(super) fn gates_of(
    task: &RequestedTask,
    terms: &RunTerms,
    patch: Option<&PlanPatch>,
    caller: &Caller,
    settings: &Settings,
) -> Result<Vec<Gate>, Refusal> {
    let own = task.request.terms.gates.as_deref();
    check(own.unwrap_or_default(), caller.door, settings)?;
    let of_definition = || patch.map(|patch| patch.definition.gates.clone());
    let mut gates = terms
        .gates
        .clone()
        .or_else(of_definition)
        .unwrap_or_default();
    for gate in &mut gates {
        gate.retries = terms.gate_retries.unwrap_or(gate.retries);
    }
    Ok(gates)
}

fn check(gates: &[Gate], door: Door, settings: &Settings) -> Result<(), Refusal> {
    let is_listed = |command: &&String| match door {
        Door::CommandLine | Door::PiCommand | Door::Attach | Door::Page => true,
        Door::Pi | Door::Mcp => settings.gates.contains(command),
    };
    let mut commands = gates.iter().map(|gate| &gate.command);
    let Some(unlisted) = commands.find(|command| !is_listed(command)) else {
        return Ok(());
    };
    let listed = match settings.gates.as_slice() {
        [] => "it lists none".to_owned(),
        gates => format!("it lists: {}", gates.join("; ")),
    };
    let message = format!(
        "The gate \"{unlisted}\" is not allowed. A task may name only commands that the user has listed in the setting subagents.gates; {listed}."
    );
    Err(Refusal { message })
}
