//! `status`: what runs, and what ran.

mod table;
mod watch;

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::Timestamp;
use pi_subagents_sessions::{IndexedRun, RecordedRun, Store};

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::counts::Counts;
use crate::runs::find::{find_runs, has_entered_more, status_of};
use crate::runs::index_row::{IndexRow, RunRow, StatusJson};
use crate::runs::owned::current_runs;
use crate::runs::row::Row;
use crate::runtime::block_on;

/// How many rows tell what the record says; older ones only what the index does.
const FULL_ROWS: usize = 200;

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// Id of a run or session to show; the beginning of it is enough
    id: Option<String>,
    /// Also list the finished runs of this project
    #[arg(long)]
    all: bool,
    /// Print the list again whenever something changes, until you interrupt it or the named run has ended
    #[arg(long)]
    watch: bool,
}

pub(crate) fn run(args: &StatusArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    if args.watch {
        return block_on(watch::watch(args, &store, &places, printer));
    }
    let seen = Seen::look(args, &store, &places)?;
    if printer.is_json() {
        printer.json(&seen.json());
    } else {
        printer.data(&seen.text(Timestamp::now()));
    }
    Ok(ExitCode::SUCCESS)
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
        // What runs is shown wherever it runs; what is over only where it belongs.
        runs.retain(|run| run.is_open() || run.project == places.project);
        let counts = Counts::of(runs.iter().map(status_of));
        runs.retain(|run| args.all || run.is_open());
        Ok(Self {
            counts,
            runs,
            is_named: false,
        })
    }

    fn json(&self) -> StatusJson<'_> {
        let short = self.runs.len().saturating_sub(FULL_ROWS);
        let rows = self.runs.iter().enumerate().map(|(index, run)| {
            let record = (index >= short)
                .then(|| RecordedRun::read(&run.directory).ok())
                .flatten();
            match record {
                Some(record) => RunRow::Full(IndexRow::of(run).with(&self.row(run, record))),
                None => RunRow::Short(IndexRow::of(run)),
            }
        });
        StatusJson {
            counts: self.counts.json(),
            runs: rows.collect(),
        }
    }

    /// What the record tells of a run; a list has the beginnings of answers only.
    fn row(&self, run: &IndexedRun, mut record: RecordedRun) -> Row {
        if run.is_open() {
            // It ended just now; the next look tells of it.
            record.end = None;
        }
        let row = Row::of(&record);
        if self.is_named { row } else { row.shortened() }
    }
}
