//! The fleet of this user, if the settings name one: whether it can be reached, and whether it is
//! set up.

use pi_subagents_delegation::text::count;
use pi_subagents_fleet::{Fleet, FleetError};

use super::check::Check;
use crate::error::CommandError;
use crate::profiles::seen::Seen;
use crate::runs::fleet::connection::connect;
use crate::runtime::block_on;

/// A clock that differs by more is worth a word: ids sort by it.
const CLOCK_SECONDS: i64 = 30;

/// Checks the fleet, if there is one.
pub(super) fn fleet(seen: &Seen) -> Option<Check> {
    let settings = &seen.configuration().settings.fleet;
    if !settings.is_configured() {
        return None;
    }
    let looked = block_on(async {
        let fleet = connect(settings, &seen.places).await?;
        let check = look(&fleet, &settings.pool).await;
        fleet.close().await;
        Ok(check)
    });
    Some(looked.unwrap_or_else(|error| unreachable(&error)))
}

/// Tries everything that a caller needs.
async fn look(fleet: &Fleet, pool: &str) -> Check {
    let (_, version) = fleet.server();
    let check = Check::new("fleet", format!("nats-server {version}"));
    let missing = match fleet.missing(&[pool.to_owned()]).await {
        Ok(missing) => missing,
        Err(error) => return refused(check, &error),
    };
    if let Some(first) = missing.first() {
        return check
            .problem()
            .and(&format!("which has no {first}"))
            .hint(format!("Run pi-subagents fleet init --pool {pool}"));
    }
    let (probe, workers) = match (fleet.probe().await, fleet.workers().await) {
        (Ok(probe), Ok(workers)) => (probe, workers),
        (Err(error), _) | (_, Err(error)) => return refused(check, &error),
    };
    let milliseconds = probe.round_trip.as_millis().max(1);
    let takes =
        |card: &pi_subagents_fleet::wire::WorkerCard| card.pools.iter().any(|one| one == pool);
    let of_pool = workers.iter().filter(|(_, card)| takes(card)).count();
    let mut check = check
        .and(&format!("answers within {milliseconds} ms"))
        .and(&format!("{} in pool {pool}", count(of_pool, "worker")));
    if of_pool == 0 {
        check = check.warning().hint(format!(
            "Runs in pool {pool} stay queued until a worker takes them: pi-subagents worker --pool {pool}"
        ));
    }
    if probe.behind.abs() > CLOCK_SECONDS {
        let side = if probe.behind > 0 {
            "behind"
        } else {
            "ahead of"
        };
        check = check.warning().hint(format!(
            "The clock of this machine is {} s {side} that of the server; runs will sort wrongly.",
            probe.behind.abs()
        ));
    }
    check
}

fn refused(check: Check, error: &FleetError) -> Check {
    let check = check.problem().hint(error.to_string());
    match error {
        FleetError::NotAllowed { .. } => check.hint(
            "pi-subagents fleet key prints the permissions that a caller needs in the server's file.",
        ),
        _ => check,
    }
}

fn unreachable(error: &CommandError) -> Check {
    let text = error.sentence();
    let mut lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("hint: "));
    let check = Check::new("fleet", lines.next().unwrap_or_default()).problem();
    lines.fold(check, Check::hint)
}
