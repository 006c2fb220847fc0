//! The hidden command that applies the retention of the settings to one project.

use std::process::ExitCode;

use pi_subagents_delegation::Timestamp;
use pi_subagents_sessions::Store;
use tracing::warn;

use crate::places::Places;
use crate::runs::keeping::retention;
use crate::runs::owned::current_runs;
use crate::runs::workspace::prune;

pub(crate) fn run() -> ExitCode {
    // Out of the terminal's reach; it fails only for a process that leads a group already.
    _ = rustix::process::setsid();
    if let Ok(places) = Places::find() {
        let now = Timestamp::now();
        retention::apply(&places, now);
        // If the index cannot be read, the next day comes.
        let runs = current_runs(&Store::new(&places.agent_dir)).unwrap_or_default();
        for problem in prune(&runs, now).problems {
            warn!(problem, "a worktree could not be pruned");
        }
    }
    ExitCode::SUCCESS
}
