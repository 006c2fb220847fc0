//! The question of an accept: which gates run before results come into a checkout.

use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::review::WaitingResult;
use pi_subagents_vocabulary::text::{first_of, one_line};

use crate::review_desk::ReviewDesk;

/// The most gates that a sentence names.
const MOST_NAMED: usize = 6;

/// Returns the commands that run when these results are accepted.
pub fn gates_of(
    results: &[&WaitingResult],
    desk: &ReviewDesk<'_>,
) -> Result<Vec<String>, CommandError> {
    let mut gates: Vec<String> = desk.gate()?.into_iter().collect();
    for gate in results.iter().flat_map(|result| &result.gates) {
        if !gates.contains(gate) {
            gates.push(gate.clone());
        }
    }
    Ok(gates)
}

/// Names the gates that must pass, for the question whether results are to be accepted.
pub fn gate_sentence(gates: &[String]) -> String {
    if gates.is_empty() {
        return "No gate runs.".to_owned();
    }
    let gates = gates.iter().map(|gate| format!("`{}`", one_line(gate)));
    let gates = first_of(gates, MOST_NAMED, ", ");
    format!("Gates that must pass: {gates}.")
}
