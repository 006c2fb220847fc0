//! The hidden command that applies the retention of the settings to one project.

use std::process::ExitCode;

use pi_subagents_records::Store;
use pi_subagents_vocabulary::Timestamp;
use tracing::warn;

use pi_subagents_ground::places::Places;
use pi_subagents_runs::keeping::retention;
use pi_subagents_runs::owned::current_runs;
use pi_subagents_runs::workspace::prune;

pub(crate) fn run() -> ExitCode {
    // Out of the terminal's reach; it fails only for a process that leads a group already.
    _ = rustix::process::setsid();
    if let Ok(places) = Places::find() {
        let now = Timestamp::now();
        // If the index cannot be read, the next day comes.
        let runs = current_runs(&Store::new(&places.agent_dir), &places).unwrap_or_default();
        retention::apply(&places, now);
        for problem in prune(&runs, now).problems {
            warn!(problem, "a worktree could not be pruned");
        }
    }
    ExitCode::SUCCESS
}
