//! The name of a worker in its fleet: one worker at a time has it. Runs, records and answers name
//! their worker, so two workers of one name could not be told apart.

use std::time::Duration;

use jiff::tz::TimeZone;
use pi_subagents_fleet_queue::store::Stored;
use pi_subagents_fleet_queue::wire::WorkerCard;
use pi_subagents_fleet_queue::{Arrival, Fleet, FleetError, Patience, Presence};
use pi_subagents_view::figures::time_of_day;
use pi_subagents_vocabulary::Timestamp;
use tokio::time::sleep;

use super::worker_lines::print_line;
use crate::runs::connection::unreachable;
use pi_subagents_ground::error::CommandError;

/// The time for which a worker waits for servers that choose a leader.
pub(super) const NO_LEADER: Duration = Duration::from_mins(1);

/// The pause between two looks at the card of another worker.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Makes a worker present under its name, for this time after its last sign: for as long as its runs
/// are lent to it, so that whoever does not see it knows that it has lost them. If the card of another worker is there, this waits until
/// the card is renewed, and then the name is taken, or until the card is gone because the other
/// worker was killed.
pub(super) async fn take(
    fleet: &Fleet,
    name: &str,
    card: &WorkerCard,
    time: Duration,
) -> Result<Presence, CommandError> {
    let mut seen = None;
    loop {
        let there = match arrive(fleet, name, card, time).await.map_err(unreachable)? {
            Arrival::Present(presence) => return Ok(presence),
            Arrival::NameTaken(there) => *there,
        };
        match seen {
            None => {
                print_line(&waits(name, &there.value));
                seen = Some(there.revision);
            }
            Some(revision) if revision != there.revision => return Err(taken(name, &there)),
            Some(_) => {}
        }
        sleep(LOOK_AGAIN).await;
    }
}

async fn arrive(
    fleet: &Fleet,
    name: &str,
    card: &WorkerCard,
    time: Duration,
) -> Result<Arrival, FleetError> {
    let patience = Patience::of(NO_LEADER);
    loop {
        match fleet.be_present(name, card, time).await {
            Ok(arrival) => return Ok(arrival),
            Err(error) => patience.after(error).await?,
        }
    }
}

fn waits(name: &str, there: &WorkerCard) -> String {
    format!(
        "a worker {name}{} was here less than a minute ago; waiting until it is known whether it still works",
        on_machine(there)
    )
}

fn taken(name: &str, there: &Stored<WorkerCard>) -> CommandError {
    let card = &there.value;
    let since = card.since.parse::<Timestamp>().ok();
    let since = since.map(|since| time_of_day(since, &TimeZone::system()));
    let since = since.map(|since| format!(" since {since}"));
    CommandError::failed(format!(
        "another worker has the name {name}: it is running{}{}",
        on_machine(card),
        since.unwrap_or_default()
    ))
    .hint("Give this one its own name: pi-subagents fleet work --name NAME. A fleet with keys needs a key for that name too: pi-subagents fleet key worker NAME.")
}

fn on_machine(card: &WorkerCard) -> String {
    match card.machine.as_str() {
        "" => String::new(),
        machine => format!(" on {machine}"),
    }
}
