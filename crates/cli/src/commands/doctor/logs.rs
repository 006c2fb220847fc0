//! Checks where the logs are, and whether anything is logged.

use super::check::Check;
use super::directories::obstacle;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::log::{
    LARGEST_LOG, LOGS, LONGEST_KEPT, LevelFilter, VARIABLE, asked_level,
};

/// Checks that logs can be written if they are wanted, and names their directory.
pub(super) fn logs(seen: &VisibleAgents) -> Check {
    let directory = seen.places.agent_dir.join(LOGS);
    let shown = seen.short(&directory);
    // A word that is no level has been refused before.
    let level = asked_level(None, seen.places.variable(VARIABLE)).unwrap_or(LevelFilter::OFF);
    if level == LevelFilter::OFF {
        let text = format!("off; --log-level debug or {VARIABLE}=debug writes to {shown}");
        return Check::new("logs", text);
    }
    if let Some(why) = obstacle(&directory) {
        return Check::new("logs", format!("{shown} cannot be used: {why}")).warning();
    }
    let megabytes = LARGEST_LOG / 1_000_000;
    let days = LONGEST_KEPT.as_secs() / (24 * 60 * 60);
    Check::new(
        "logs",
        format!("{shown}, level {level}, {megabytes} MB per process, kept for {days} days"),
    )
}
