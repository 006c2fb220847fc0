//! `events`: the record of a run as it is on disk, and as it grows.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_sessions::{IndexedRun, Store};

use crate::error::CommandError;
use crate::owner::is_owned;
use crate::places::Places;
use crate::print::Printer;
use crate::recorded::find_runs;

/// How often a growing record is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(crate) struct EventsArgs {
    /// The id of a run or session, or the beginning of it
    id: String,
    /// Go on until the run is over
    #[arg(long, short)]
    follow: bool,
}

pub(crate) fn run(args: &EventsArgs, _: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let runs = find_runs(&store, &places, &args.id)?;
    let mut stdout = io::stdout().lock();
    for run in &runs {
        match print_events(run, args.follow, &mut stdout) {
            // A reader that left is no error of ours.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => {
                return Err(CommandError::failed(format!(
                    "the events of run {} cannot be read",
                    run.run
                ))
                .because(&error));
            }
            Ok(()) => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_events(run: &IndexedRun, follow: bool, output: &mut impl io::Write) -> io::Result<()> {
    let events = run.directory.events();
    while follow && !events.exists() && is_going(run) {
        std::thread::sleep(LOOK_AGAIN);
    }
    let mut reader = match File::open(&events) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut line = Vec::new();
    loop {
        // Asked before the last look, so that what was written before the end is still printed.
        let is_going = follow && is_going(run);
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            if line.len() > 1 {
                output.write_all(&line)?;
            }
            line.clear();
        }
        output.flush()?;
        if !is_going {
            return Ok(());
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn is_going(run: &IndexedRun) -> bool {
    let result: &Path = &run.directory.result();
    !result.exists() && is_owned(run)
}
