//! `events`: the record of a run as it is on disk, and as it grows.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_records::{GrowingFile, IndexedRun};
use pi_subagents_vocabulary::text::escape_json;

use crate::commands::read_runs;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::follow::Follower;
use pi_subagents_runs::missing_record::LostRecord;

/// The number of bytes that are read at once.
const PIECE: usize = 256 << 10;

#[derive(Args)]
pub(crate) struct EventsArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
    /// Keep printing new events until the run has ended
    #[arg(long, short)]
    follow: bool,
}

pub(crate) fn run(args: &EventsArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let runs = read_runs::meant(&args.id, "events", &places, printer)?;
    let mut stdout = io::stdout().lock();
    block_on(async {
        let mut lost = Vec::new();
        for run in &runs {
            let outcome = if args.follow {
                follow(&places, run, &mut stdout, printer).await
            } else {
                print_recorded(run, &mut stdout)
            };
            match outcome {
                Ok(true) => {}
                Ok(false) => lost.extend(LostRecord::if_gone(run)),
                // A reader that left is no error of ours.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                Err(error) => {
                    let what = format!("could not read the events of run {}", run.run);
                    return Err(CommandError::failed(what).because(&error));
                }
            }
        }
        read_runs::print_lost(lost, &runs, printer)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Prints the recorded events of a run. Returns whether there was a record of its events.
fn print_recorded(run: &IndexedRun, output: &mut impl io::Write) -> io::Result<bool> {
    let mut events = GrowingFile::from_beginning(run.directory.events());
    print_new(&mut events, output)?;
    Ok(events.is_open())
}

/// Prints the recorded events of a run and further ones, until the run is over. Returns whether
/// there was a record of its events.
async fn follow(
    places: &Places,
    run: &IndexedRun,
    output: &mut impl io::Write,
    printer: Printer<'_>,
) -> io::Result<bool> {
    let follower = Follower::start(places);
    let mut record = follower.record_of(run);
    let mut events = GrowingFile::from_beginning(run.directory.events());
    loop {
        // This is asked before the last look, so that events from before the end are still printed.
        let is_going = run.is_open() && record.is_going();
        print_new(&mut events, output)?;
        if !is_going {
            if let Some(why) = record.unseen() {
                printer.note(&format!("! {why}"));
            }
            return Ok(events.is_open());
        }
        record.changed().await;
    }
}

/// Prints the lines that are new in a file.
fn print_new(events: &mut GrowingFile, output: &mut impl io::Write) -> io::Result<()> {
    let is_for_a_person = io::stdout().is_terminal();
    let mut text = Vec::new();
    while events.next(PIECE, |line| {
        if is_for_a_person {
            text.extend_from_slice(escape_json(&String::from_utf8_lossy(line)).as_bytes());
        } else {
            text.extend_from_slice(line);
        }
        text.push(b'\n');
    })? {
        output.write_all(&text)?;
        text.clear();
    }
    output.flush()
}
