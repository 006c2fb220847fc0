//! The places of a command, with the fleet that this program knows.

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// Finds the places of this process.
pub(crate) fn find_places() -> Result<Places, CommandError> {
    Places::find(pi_subagents_fleet::guests())
}
