//! Brings conversations up to date that may have gone on elsewhere, before their next runs are
//! opened.

use std::thread;
use std::time::Duration;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::wire::SessionHolder;
use pi_subagents_vocabulary::Refusal;
use tokio::time::timeout;

use super::key_of;
use crate::runs::connection::{caller_of, connect};
use crate::runs::conversation::bring_home;
use pi_subagents_calls::elsewhere::NamedSession;
use pi_subagents_ground::places::Places;

/// The time for which this may hold up a call.
const PATIENCE: Duration = Duration::from_secs(30);

/// Brings a conversation up to date, if a fleet is configured that may know more of it. Returns a
/// note for the caller where the fleet could not be asked.
pub(crate) fn catch_up(
    places: &Places,
    settings: &FleetSettings,
    named: &NamedSession<'_>,
) -> Result<Option<String>, Refusal> {
    if !settings.is_configured() || !may_be_elsewhere(named) {
        return Ok(None);
    }
    // A thread of its own, because the caller may be one of the runtime's.
    let asked = thread::scope(|scope| {
        let asking = scope.spawn(|| ask(places, settings, named));
        asking
            .join()
            .unwrap_or_else(|_| Err(Behind::NotAsked("a thread has failed".to_owned())))
    });
    match asked {
        Ok(()) => Ok(None),
        Err(Behind::NotAsked(why)) if named.note().is_none() => Ok(Some(format!(
            "whether the fleet knows session {} could not be asked: {why}",
            named.id
        ))),
        Err(Behind::NotAsked(why)) => Err(Refusal {
            message: format!(
                "session {} may have gone on in the fleet, and what was said there cannot be had now: {why}",
                named.id
            ),
        }),
        Err(Behind::NotBrought(why)) => Err(Refusal {
            message: format!(
                "session {} has gone on in the fleet, and what was said there cannot be had: {why}. The machine on which it went on last still has it, and sends it again with its next run; or begin another session.",
                named.id
            ),
        }),
    }
}

/// Returns whether the fleet may know more of a conversation than this machine: it was there, or
/// nothing of it is here. A conversation that never left needs no connection.
fn may_be_elsewhere(named: &NamedSession<'_>) -> bool {
    named.note().is_some() || !named.session.is_known()
}

/// Why a conversation is not up to date here.
enum Behind {
    /// The fleet could not be asked whether it knows more.
    NotAsked(String),
    /// The fleet knows more, and did not hand it out.
    NotBrought(String),
}

fn ask(places: &Places, settings: &FleetSettings, named: &NamedSession<'_>) -> Result<(), Behind> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Behind::NotAsked(error.to_string()))?;
    let work = async {
        let fleet = connect(settings, places).await;
        let fleet = fleet.map_err(|error| Behind::NotAsked(error.sentence()))?;
        let done = bring(places, &fleet, named).await;
        fleet.close().await;
        done
    };
    let done = runtime.block_on(async { timeout(PATIENCE, work).await });
    done.unwrap_or_else(|_| {
        let why = format!("it took longer than {} s", PATIENCE.as_secs());
        Err(Behind::NotAsked(why))
    })
}

async fn bring(places: &Places, fleet: &Fleet, named: &NamedSession<'_>) -> Result<(), Behind> {
    let note = named.note();
    let key = match &note {
        Some(note) => note.key.clone(),
        None => key_of(places, named.cwd, named.agent, named.id),
    };
    let seen = fleet.look_at_session(&key).await;
    let Some(entry) = seen.map_err(|error| Behind::NotAsked(error.to_string()))? else {
        return Ok(());
    };
    if entry
        .holder
        .as_ref()
        .is_some_and(|holder| is_ours(places, holder))
    {
        // The file here is newer than what is saved.
        return Ok(());
    }
    let here = note.and_then(|note| note.object);
    match entry.saved {
        Some(saved) if Some(&saved.object) != here.as_ref() => {
            let brought = bring_home(fleet, &saved, named.session.file(), named.cwd).await;
            brought.map_err(Behind::NotBrought)
        }
        Some(_) | None => Ok(()),
    }
}

fn is_ours(places: &Places, holder: &SessionHolder) -> bool {
    holder.machine.as_deref() == Some(&caller_of(places))
}
