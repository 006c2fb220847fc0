//! The runs that `logs` and `events` read, and the notes about records that are gone.

use pi_subagents_records::IndexedRun;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::of_one_conversation;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::missing_record::{LostRecord, what_is_missing};
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend_records;

/// Returns the runs of the one conversation that a person means. If several can be meant, the error
/// lists this command for each of them.
pub(super) fn meant(
    id: &str,
    command: &str,
    places: &Places,
    printer: Printer<'_>,
) -> Result<Vec<IndexedRun>, CommandError> {
    meant_in(&KnownIndex::of(places), id, command, places, printer)
}

/// Returns the runs that a typed word means in an index that the command goes on to use.
pub(super) fn meant_in(
    index: &KnownIndex,
    id: &str,
    command: &str,
    places: &Places,
    printer: Printer<'_>,
) -> Result<Vec<IndexedRun>, CommandError> {
    tend_records(index, places);
    let typed = TypedIds::newest(index, places, printer);
    typed
        .runs(id)
        .and_then(|runs| of_one_conversation(runs, None))
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents {command} {run}")))
}

/// Prints notes about the records that are gone. If all of them are, that is an error.
pub(super) fn print_lost(
    mut lost: Vec<LostRecord>,
    runs: &[IndexedRun],
    printer: Printer<'_>,
) -> Result<(), CommandError> {
    if lost.len() == runs.len()
        && let Some(latest) = lost.pop()
    {
        return Err(latest.into());
    }
    if let Some(missing) = what_is_missing(&lost) {
        printer.note(&format!("! {missing}"));
    }
    Ok(())
}
