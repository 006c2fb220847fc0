//! `status --watch`: shows runs again whenever something happens to them.

use std::process::ExitCode;
use std::time::Duration;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::Timestamp;
use tokio::time::sleep;

use super::{Seen, StatusArgs};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_ground::signals::Signals;
use pi_subagents_runs::follow::{AwaitedNews, Depth, FollowedRuns};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::live_figures::UnderWay;

/// The pause between two updates of the durations on a terminal.
const CLOCK: Duration = Duration::from_secs(1);

/// Shows the runs until somebody interrupts, or until the runs of the named id are over.
pub(super) async fn watch(
    args: &StatusArgs,
    known: &KnownIndex,
    places: &Places,
    printer: Printer<'_>,
) -> Result<ExitCode, CommandError> {
    let mut signals = Signals::listen()?;
    // Every run that begins or ends has a line in the index, unless its owner is killed.
    let mut followed = FollowedRuns::start(places, Depth::Ends);
    let mut under_way = UnderWay::default();
    let mut shown = String::new();
    loop {
        super::tend(args, known, places);
        let seen = Seen::look(args, known, places, &mut under_way)?;
        // The terminal may have another size by now.
        show(&seen, &mut shown, &Sheet::of_stdout(places), printer);
        let has_open = seen.looked().any(IndexedRun::is_open);
        if seen.is_named && !has_open {
            return Ok(ExitCode::SUCCESS);
        }
        followed.follow(seen.looked());
        tokio::select! {
            _ = followed.next(AwaitedNews::ALL) => {}
            () = sleep(CLOCK), if seen.is_ticking(printer.is_screen()) => {}
            number = signals.next() => {
                return Ok(exit::of_signal(number));
            }
        }
    }
}

/// Prints the changes. Clocks and figures go on, but for a reader of a log only the events of a run
/// are news.
fn show(seen: &Seen, shown: &mut String, sheet: &Sheet, printer: Printer) {
    let state = seen.json().news();
    if state == *shown && !printer.is_screen() {
        return;
    }
    if printer.is_json() {
        printer.json_line(&seen.json());
    } else {
        let mut lines = seen.lines(sheet, Timestamp::now());
        sheet.cut(&mut lines);
        printer.screen(&sheet.text(&lines));
    }
    *shown = state;
}
