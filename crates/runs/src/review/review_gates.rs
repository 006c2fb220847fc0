//! The gates that decide whether results are accepted: the one of the review, and those that the calls
//! of the results have set.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::text::{first_of, one_line};
use pi_subagents_vocabulary::{Advice, Gate};

use super::gate_run::GateCommand;
use super::queue::WaitingResult;
use super::rehearsed_results::Candidate;
use super::result_facts::own_gates;
use pi_subagents_ground::error::CommandError;

/// At most so many results are named.
const MOST_NAMED: usize = 3;

/// The gates that decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewGates {
    /// No gate is run.
    None,
    /// Each state must pass this command, if there is one, and the gates of the results in it.
    Run(Option<String>),
    /// The same, but results that nothing gates are taken too: a person has looked at them.
    IfAny(Option<String>),
}

impl ReviewGates {
    /// Returns whether any gate may run.
    pub(super) fn may_run(&self) -> bool {
        match self {
            Self::None => false,
            Self::Run(_) | Self::IfAny(_) => true,
        }
    }

    /// Returns the gate that every state must pass, if there is one, for a directory of the checkout.
    pub(super) fn of_review(&self, inside: Option<&Path>) -> Option<GateCommand> {
        let command = match self {
            Self::None => None,
            Self::Run(command) | Self::IfAny(command) => command.as_ref(),
        };
        Some(GateCommand {
            command: command?.clone(),
            inside: inside.map(Path::to_owned).unwrap_or_default(),
            timeout: Gate::USUAL_TIMEOUT,
        })
    }

    /// Returns the gates that the call of a result has set for it, as far as they may run.
    pub(super) fn of_result(&self, waiting: &WaitingResult) -> Vec<GateCommand> {
        if self.may_run() {
            gates_of(waiting)
        } else {
            Vec::new()
        }
    }

    /// Refuses to take something that nothing has proved.
    pub(super) fn check_proof(&self, candidates: &[Candidate<'_>]) -> Result<(), CommandError> {
        if *self != Self::Run(None) {
            return Ok(());
        }
        let without = candidates.iter().filter(|one| one.gates.is_empty());
        let names: Vec<String> = without
            .map(|one| one_line(&one.waiting.facts.name))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let names = first_of(names, MOST_NAMED, ", ");
        Err(
            CommandError::usage(format!("no gate says whether {names} may be taken"))
                .advise(
                    "",
                    Advice::AcceptWithGate,
                    " names one; subagents.reviewGate in settings.json names one for good.",
                )
                .advise("", Advice::AcceptWithoutGate, " takes them unseen."),
        )
    }
}

/// Refuses to run a command that a person was not asked about.
pub(super) fn check_confirmed<'a>(
    confirmed: &[String],
    mut gates: impl Iterator<Item = &'a GateCommand>,
) -> Result<(), CommandError> {
    let Some(other) = gates.find(|gate| !confirmed.contains(&gate.command)) else {
        return Ok(());
    };
    let words = format!(
        "the gate `{}` was not confirmed; nothing was run",
        one_line(&other.command)
    );
    Err(CommandError::failed(words).hint("Look at the gates again, and confirm them."))
}

/// Returns the gates that the call of a result has set for it.
fn gates_of(waiting: &WaitingResult) -> Vec<GateCommand> {
    let gates = own_gates(&waiting.result.run);
    let workspace = waiting.result.workspace.as_ref();
    let inside = workspace.map_or_else(PathBuf::new, |workspace| workspace.inside.clone());
    let gates = gates.into_iter().map(|gate| GateCommand {
        command: gate.command,
        inside: inside.clone(),
        timeout: gate.timeout,
    });
    gates.collect()
}
