//! Presets: the body follows the system prompt, and a description is required.

use pi_subagents_vocabulary::Definition;

use pi_subagents_pi_files::{Position, Problem};

/// Checks that a preset has its required fields.
pub(super) fn check(preset: &Definition) -> Result<(), Problem> {
    if preset.description.is_none() {
        return Err(Problem::at(
            Position::line(1),
            "a preset needs a \"description\"",
        ));
    }
    Ok(())
}
