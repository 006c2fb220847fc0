//! `status --watch`: shows runs again whenever something happens to them.

use std::fs;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use pi_subagents_delegation::Timestamp;
use pi_subagents_sessions::{IndexedRun, Store};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{Seen, StatusArgs};
use crate::error::CommandError;
use crate::exit;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::changes::{Changes, owner_gone};
use crate::runs::owned::is_owned;
use crate::signals::Signals;

/// How often the clocks of what runs are shown anew on a terminal.
const CLOCK: Duration = Duration::from_secs(1);

/// Shows what there is until somebody interrupts, or until the runs of the named id are over.
pub(super) async fn watch(
    args: &StatusArgs,
    store: &Store,
    places: &Places,
    printer: Printer<'_>,
) -> Result<ExitCode, CommandError> {
    let mut signals = Signals::listen()?;
    let changes = watch_index(places)
        .map_err(|error| CommandError::failed("the index cannot be watched").because(&error))?;
    let mut shown = String::new();
    loop {
        let seen = Seen::look(args, store, places)?;
        show(&seen, &mut shown, printer);
        let mut open = seen.runs.iter().filter(|run| run.is_open());
        if seen.is_named && open.next().is_none() {
            return Ok(ExitCode::SUCCESS);
        }
        let mut owners = watch_owners(&seen.runs);
        tokio::select! {
            () = changes.next() => {}
            Some(_) = owners.join_next() => {}
            () = sleep(CLOCK), if printer.is_screen() && seen.counts.running > 0 => {}
            number = signals.next() => {
                return Ok(exit::of_signal(number));
            }
        }
    }
}

/// Every run that begins or ends has a line in the index.
fn watch_index(places: &Places) -> io::Result<Changes> {
    fs::create_dir_all(&places.agent_dir)?;
    let changes = Changes::new()?;
    changes.watch(&places.agent_dir)?;
    Ok(changes)
}

/// An owner that is killed writes no line.
fn watch_owners(runs: &[IndexedRun]) -> JoinSet<()> {
    runs.iter()
        .filter(|run| run.is_open() && is_owned(run))
        .map(|run| {
            let owner = run.owner.clone();
            async move { owner_gone(&owner).await }
        })
        .collect()
}

/// Clocks go on, but only what happens to a run is news for whoever reads along.
fn show(seen: &Seen, shown: &mut String, printer: Printer) {
    let state = seen.json().line();
    if state == *shown && !printer.is_screen() {
        return;
    }
    if printer.is_json() {
        printer.data(&state);
    } else {
        printer.screen(&seen.text(Timestamp::now()));
    }
    *shown = state;
}
