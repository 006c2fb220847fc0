//! The hidden command that applies the retention of the settings to one project.

use std::process::ExitCode;

use crate::places::find_places;
use pi_subagents_vocabulary::Timestamp;
use tracing::warn;

use pi_subagents_runs::cleanup::retention;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend;
use pi_subagents_runs::workspace::prune;

pub(crate) fn run() -> ExitCode {
    pi_subagents_os::leave_terminal();
    if let Ok(places) = find_places() {
        let now = Timestamp::now();
        // If the index cannot be read, the next day comes.
        let index = KnownIndex::of(&places);
        tend(&index, &places);
        retention::apply(&places, now);
        if let Ok(runs) = index.runs() {
            for problem in prune(&runs, now).problems {
                warn!(problem, "a worktree could not be pruned");
            }
        }
    }
    ExitCode::SUCCESS
}
