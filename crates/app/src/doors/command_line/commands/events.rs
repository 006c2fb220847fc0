//! `events`: the record of a run as it is on disk, and as it grows.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::text::escape_json;
use pi_subagents_files::open_plain;
use pi_subagents_sessions::{IndexedRun, Store};

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::conversation::{ask_which, of_one_conversation};
use crate::runs::find::find_runs;
use crate::runs::missing_record::{LostRecord, what_is_missing};
use crate::runs::run_changes::RunChanges;
use crate::runtime::block_on;

#[derive(Args)]
pub(crate) struct EventsArgs {
    /// Id of a run or session; the beginning of it is enough
    id: String,
    /// Keep printing new events until the run has ended
    #[arg(long, short)]
    follow: bool,
}

pub(crate) fn run(args: &EventsArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let runs = find_runs(&store, &places, &args.id)?;
    let runs = of_one_conversation(runs, None, |run| Some(run))
        .map_err(|error| ask_which(error, |run| format!("pi-subagents events {run}")))?;
    let mut stdout = io::stdout().lock();
    block_on(async {
        let mut lost = Vec::new();
        for run in &runs {
            let outcome = if args.follow {
                follow(run, &mut stdout).await
            } else {
                print_recorded(run, &mut stdout)
            };
            match outcome {
                Ok(true) => {}
                Ok(false) => lost.extend(LostRecord::if_gone(run)),
                // A reader that left is no error of ours.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                Err(error) => {
                    let what = format!("the events of run {} cannot be read", run.run);
                    return Err(CommandError::failed(what).because(&error));
                }
            }
        }
        if lost.len() == runs.len()
            && let Some(latest) = lost.pop()
        {
            return Err(latest.into());
        }
        if let Some(missing) = what_is_missing(&lost) {
            printer.note(&format!("! {missing}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Tells whether there was anything to be printed.
fn print_recorded(run: &IndexedRun, output: &mut impl io::Write) -> io::Result<bool> {
    let Some(mut events) = Events::open(run)? else {
        return Ok(false);
    };
    events.print_new(output)?;
    Ok(true)
}

/// Prints what there is and what comes, until the run is over. Tells whether there was anything.
async fn follow(run: &IndexedRun, output: &mut impl io::Write) -> io::Result<bool> {
    let changes = RunChanges::of_record(run);
    let mut events = None;
    loop {
        // Asked before the last look, so that what was written before the end is still printed.
        let is_going = changes.is_going();
        if events.is_none() {
            events = Events::open(run)?;
        }
        if let Some(events) = &mut events {
            events.print_new(output)?;
        }
        if !is_going {
            return Ok(events.is_some());
        }
        changes.next().await;
    }
}

/// The file of a run's events, read as far as it has lines.
struct Events {
    file: BufReader<File>,
    /// The beginning of a line whose end is not written yet.
    line: Vec<u8>,
}

impl Events {
    /// None as long as nothing was written down.
    fn open(run: &IndexedRun) -> io::Result<Option<Self>> {
        match open_plain(&run.directory.events()) {
            Ok(file) => Ok(Some(Self {
                file: BufReader::new(file),
                line: Vec::new(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn print_new(&mut self, output: &mut impl io::Write) -> io::Result<()> {
        let line = &mut self.line;
        while self.file.read_until(b'\n', line)? > 0 && line.ends_with(b"\n") {
            if line.len() > 1 {
                if io::stdout().is_terminal() {
                    let shown = String::from_utf8_lossy(line);
                    output.write_all(escape_json(&shown).as_bytes())?;
                } else {
                    output.write_all(line)?;
                }
            }
            line.clear();
        }
        output.flush()
    }
}
