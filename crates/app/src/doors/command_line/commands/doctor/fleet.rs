//! The fleet of this user, if the settings name one: whether it can be reached, and whether it is
//! set up.

use pi_subagents_delegation::text::count;
use pi_subagents_fleet::{Fleet, FleetError, Permissions};

use super::check::Check;
use crate::doors::command_line::commands::worker::worker_name;
use crate::error::CommandError;
use crate::profiles::seen::Seen;
use crate::runs::fleet::connection::{address, connect, unreachable as no_connection};
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
        let connected = connect_as_permitted(seen).await?;
        let check = look(&connected, &settings.pool).await;
        connected.fleet.close().await;
        Ok(check)
    });
    Some(looked.unwrap_or_else(|error| unreachable(&error)))
}

/// A connection, and what whoever has it needs.
struct Connected {
    fleet: Fleet,
    /// A caller, or a worker.
    role: &'static str,
    needs: Result<Permissions, FleetError>,
}

/// Connects as a caller, or as the worker of this machine if the key is a worker's: the server lets
/// each key hear answers under one name only.
async fn connect_as_permitted(seen: &Seen) -> Result<Connected, CommandError> {
    let settings = &seen.configuration().settings;
    let caller = connect(&settings.fleet, &seen.places).await?;
    if !matches!(
        caller.hears_answers().await,
        Err(FleetError::NotAllowed { .. })
    ) {
        return Ok(Connected {
            needs: Ok(Permissions::of_caller(caller.names(), "caller")),
            fleet: caller,
            role: "caller",
        });
    }
    caller.close().await;
    let name = worker_name(&settings.worker);
    let address = address(&settings.fleet, Some(&name), &seen.places)?;
    let fleet = Fleet::connect(&address).await.map_err(no_connection)?;
    Ok(Connected {
        needs: Permissions::of_worker(fleet.names(), &name, &settings.worker.pools),
        fleet,
        role: "worker",
    })
}

/// Tries everything that a caller needs, or a worker.
async fn look(connected: &Connected, pool: &str) -> Check {
    let fleet = &connected.fleet;
    let (_, version) = fleet.server();
    let check = Check::new("fleet", format!("nats-server {version}"));
    if let Err(error) = fleet.hears_answers().await
        && matches!(error, FleetError::NotAllowed { .. })
    {
        return refused(check, &error);
    }
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
    let refusals = match &connected.needs {
        Ok(needs) => fleet.refused(needs).await,
        Err(error) => Err(error.clone()),
    };
    match refusals {
        Ok(lines) if lines.is_empty() => {}
        Ok(lines) => return lacks(check, connected.role, &lines),
        Err(error) => return refused(check, &error),
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
