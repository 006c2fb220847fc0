//! The fleet of this user, if the settings name one: whether it can be reached, and whether it is
//! set up.

use pi_subagents_view::figures;
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::count;

use super::check::Check;
use crate::commands::fleet::worker_name;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_fleet::values::{ExaminedFleet, FleetProblem, SoundFleet};
use pi_subagents_fleet::{FleetError, OwnFleet, Storage};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::runtime::block_on;

/// A clock that differs by more is worth a word: ids sort by it.
const CLOCK_SECONDS: i64 = 30;

/// Checks the fleet, if there is one.
pub(super) fn fleet(seen: &VisibleAgents) -> Option<Check> {
    let settings = &seen.configuration().settings.fleet;
    if !settings.is_configured() {
        return None;
    }
    let examined = examine(seen);
    Some(examined.map_or_else(
        |error| unreachable(&error),
        |examined| described(&examined, &settings.pool),
    ))
}

fn examine(seen: &VisibleAgents) -> Result<ExaminedFleet, CommandError> {
    let settings = &seen.configuration().settings;
    let fleet = OwnFleet::of(&settings.fleet)?;
    let name = worker_name(&settings.worker);
    block_on(fleet.examine(&seen.places, &name, &settings.worker.pools))
}

/// Describes the state in which the fleet was found.
fn described(examined: &ExaminedFleet, pool: &str) -> Check {
    let check = Check::new("fleet", format!("nats-server {}", examined.version));
    match &examined.found {
        Ok(sound) => usable(check, sound, pool),
        Err(FleetProblem::NotSetUp(what)) => check
            .problem()
            .and(&format!("which has no {what}"))
            .hint(format!("Run pi-subagents fleet init --pool {pool}")),
        Err(FleetProblem::Lacks { role, permissions }) => lacks(check, role, permissions),
        Err(FleetProblem::Failed(
            error @ (FleetError::NotAllowed { .. } | FleetError::Deaf { .. }),
        )) => check.problem().hint(error.to_string()).hint(
            "pi-subagents fleet key makes a key for a name and a role, and prints the permissions that it needs in the server's file.",
        ),
        Err(FleetProblem::Failed(error)) => check.problem().hint(error.to_string()),
    }
}

fn usable(check: Check, sound: &SoundFleet, pool: &str) -> Check {
    let milliseconds = sound.probe.round_trip.as_millis().max(1);
    let mut check = check
        .and(&format!("answers within {milliseconds} ms"))
        .and(&format!(
            "{} in pool {pool}",
            count(sound.workers, "worker")
        ));
    check = with_storage(check, &sound.storage);
    if sound.workers == 0 {
        check = check.warning().hint(format!(
            "Runs in pool {pool} stay queued until a worker takes them: pi-subagents fleet work --pool {pool}"
        ));
    }
    let behind = sound.probe.behind;
    if behind.abs() > CLOCK_SECONDS {
        let side = if behind > 0 { "behind" } else { "ahead of" };
        check = check.warning().hint(format!(
            "The clock of this machine is {} s {side} that of the server; runs will sort wrongly.",
            behind.abs()
        ));
    }
    check
}

/// Adds how much the servers keep, and whether they keep more and as often as they should.
fn with_storage(check: Check, storage: &Storage) -> Check {
    let kept = figures::bytes(storage.bytes);
    let kept = match storage.limit {
        Some(limit) => format!("keeps {kept} of at most {}", figures::bytes(limit)),
        None => format!("keeps {kept}"),
    };
    let mut check = check.and(&kept);
    if let Some(refusal) = &storage.refusal {
        check = check.problem().hint(format!(
            "The store is full: {refusal}. Raise max_file in the server's file, or its account, and reload the server. Running tasks wait for it."
        ));
    }
    for server in &storage.lagging {
        let state = if server.is_offline {
            "is away"
        } else {
            "is behind"
        };
        check = check.warning().hint(format!(
            "Server {} {state}: {} of the fleet {} a copy fewer than they should. Start it, or look at its log.",
            server.server,
            count(server.streams.len(), "stream"),
            if server.streams.len() == 1 { "has" } else { "have" },
        ));
    }
    check
}

/// Names the lines that the server's file lacks.
fn lacks(check: Check, role: &str, lines: &[String]) -> Check {
    let many = count(lines.len(), "permission");
    let check = check
        .problem()
        .and(&format!("where our key lacks {many} that a {role} needs"));
    let check = lines
        .iter()
        .fold(check, |check, line| check.hint(format!("Missing: {line}")));
    check.hint(format!(
        "pi-subagents fleet key {role} NAME prints all permissions for the server's file."
    ))
}

fn unreachable(error: &CommandError) -> Check {
    let text = error.lines(Door::CommandLine);
    let mut lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("hint: "));
    let check = Check::new("fleet", lines.next().unwrap_or_default()).problem();
    lines.fold(check, Check::hint)
}
