//! The sandboxes that can be had here, found out by a trial that is kept in the agent directory.

use pi_subagents_confine::{SandboxTrial, try_sandbox, try_sandbox_once};

use crate::own_commands::CONFINE;
use crate::places::Places;

/// The file in the agent directory that keeps the result.
const KEPT: &str = "sandbox-trial.json";

/// Returns which sandboxes can be had here.
pub fn sandbox_trial(places: &Places) -> SandboxTrial {
    try_sandbox(&places.program, CONFINE, &places.agent_dir.join(KEPT))
}

/// Returns the same for somebody who must not write.
pub fn unkept_sandbox_trial(places: &Places) -> SandboxTrial {
    try_sandbox_once(&places.program, CONFINE)
}
