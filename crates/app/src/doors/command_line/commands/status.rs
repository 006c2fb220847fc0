//! `status`: lists the runs in progress, and the finished ones.

mod table;
mod watch;

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::Timestamp;
use pi_subagents_sessions::{IndexedRun, Prefers, RecordedRun, Store};
use serde::Serialize;
use serde_json::Value;

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::ask_which::ask_which;
use crate::runs::counts::Counts;
use crate::runs::find::{find_runs, has_entered_more, status_of};
use crate::runs::owned::current_runs;
use crate::runs::row::RunRow;
use crate::runs::typed::TypedIds;
use crate::runtime::block_on;

/// How many rows have the facts of the record; older rows have only those of the index.
const FULL_ROWS: usize = 200;

#[derive(Args, Clone)]
pub(crate) struct StatusArgs {
    /// Run or session to show: an id or its beginning, last, last~2, or the name of a task or definition
    id: Option<String>,
    /// Also list the finished runs of this project, as ls does
    #[arg(long)]
    all: bool,
    /// Print the list again whenever something changes, until you interrupt it or the named run has ended
    #[arg(long)]
    watch: bool,
}

pub(crate) fn run(args: &StatusArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let args = with_whole_id(args, &store, &places, printer)?;
    if args.watch {
        return block_on(watch::watch(&args, &store, &places, printer));
    }
    let seen = Seen::look(&args, &store, &places)?;
    if printer.is_json() {
        printer.json(&seen.json());
    } else {
        printer.data(&seen.text(Timestamp::now()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the arguments with the whole id in place of what was typed: while runs are watched,
/// `last` stays the run that it was at the beginning.
fn with_whole_id(
    args: &StatusArgs,
    store: &Store,
    places: &Places,
    printer: Printer,
) -> Result<StatusArgs, CommandError> {
    let mut args = args.clone();
    let typed = TypedIds {
        store,
        places,
        printer,
        prefers: Prefers::Newest,
    };
    if let Some(id) = &mut args.id {
        *id = typed
            .whole_id(id)
            .map_err(|error| ask_which(&error, |run| format!("pi-subagents status {run}")))?;
    }
    Ok(args)
}

/// What there is to be shown.
struct Seen {
    counts: Counts,
    runs: Vec<IndexedRun>,
    /// Whether these runs were asked for by an id.
    is_named: bool,
}

impl Seen {
    fn look(args: &StatusArgs, store: &Store, places: &Places) -> Result<Self, CommandError> {
        if let Some(id) = &args.id {
            let runs = find_runs(store, places, id)?;
            return Ok(Self {
                counts: Counts::of(runs.iter().map(status_of)),
                runs,
                is_named: true,
            });
        }
        let mut runs = current_runs(store)?;
        if args.all && has_entered_more(store, places, &runs) {
            runs = current_runs(store)?;
        }
        // Running runs are listed wherever they run, finished ones only in their own project.
        runs.retain(|run| run.is_open() || run.project == places.project);
        let counts = Counts::of(runs.iter().map(status_of));
        runs.retain(|run| args.all || run.is_open());
        Ok(Self {
            counts,
            runs,
            is_named: false,
        })
    }

    fn json(&self) -> StatusJson {
        let short = self.runs.len().saturating_sub(FULL_ROWS);
        let runs = self.runs.iter().enumerate();
        StatusJson {
            counts: self.counts.json(),
            runs: runs
                .map(|(index, run)| {
                    if index < short {
                        RunRow::of_index(run)
                    } else {
                        self.row(run)
                    }
                })
                .collect(),
        }
    }

    /// Reads the record of a run; a list has the beginnings of answers only.
    fn row(&self, run: &IndexedRun) -> RunRow {
        let mut record = match RecordedRun::read(&run.directory) {
            Ok(record) => record,
            Err(error) => return RunRow::with_problem(run, error),
        };
        if run.is_open() {
            // The run ended just now. The index will say so, and the counts with it.
            record.end = None;
        }
        let row = RunRow::of_index_and_record(run, &record);
        if self.is_named { row } else { row.shortened() }
    }
}

/// What `status --json` prints.
#[derive(Serialize)]
struct StatusJson {
    counts: Value,
    runs: Vec<RunRow>,
}

impl StatusJson {
    /// Writes it in one line.
    fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
