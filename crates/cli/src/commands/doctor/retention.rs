//! Checks the disk space of all records of runs, and which of them are due for removal.

use pi_subagents_configuration::Retention;
use pi_subagents_records::{Removal, Store};
use pi_subagents_view::figures;
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::count;

use super::check::Check;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_runs::cleanup::choice::{Choice, Rule};
use pi_subagents_runs::cleanup::plan::Planner;
use pi_subagents_runs::cleanup::retention as kept;

/// Checks the records of all projects.
pub(super) fn retention(seen: &VisibleAgents) -> Check {
    let places = &seen.places;
    let store = Store::new(&places.agent_dir);
    // An index that cannot be read is the matter of another check.
    let runs = store.runs().unwrap_or_default();
    if runs.is_empty() {
        return Check::new("retention", "no records yet");
    }
    let allowed = kept::retention(places);
    let rule = Rule::Retention(allowed.unwrap_or(Retention::NEVER));
    let choice = Choice::Rule {
        rule,
        project: None,
    };
    let mut planner = Planner::new(Removal::new(&store), choice, Timestamp::now());
    let going = planner.plan(&runs).going;
    let bytes = runs.iter().map(|run| planner.disk_use(run)).sum();
    let check = Check::new(
        "retention",
        format!("{} for {}", figures::bytes(bytes), count(runs.len(), "run")),
    );
    let next = match (allowed, going.as_slice()) {
        (None, _) => "nothing is removed by itself (subagents.retention)".to_owned(),
        (Some(_), []) => "none is due for removal (subagents.retention)".to_owned(),
        (Some(_), going) => {
            let bytes = going.iter().map(|going| going.bytes).sum();
            let (runs, bytes) = (count(going.len(), "run"), figures::bytes(bytes));
            format!("{runs} of {bytes} due for removal (subagents.retention; pi-subagents clean)")
        }
    };
    let check = check.and(&next);
    match kept::latest(&places.agent_dir) {
        Some(removed) => check.and(&removed.sentence()),
        None => check,
    }
}
