//! `status`: lists the runs in progress, and the finished ones; with an id it shows a run whole.

mod choice;
mod fleet;
mod run_details;
mod status_view;
mod watch;

use std::process::ExitCode;

use clap::Args;
use pi_subagents_vocabulary::Timestamp;

use self::choice::{Choice, Sort};
pub(crate) use self::fleet::FleetStatusResult;
use self::status_view::Seen;
pub(crate) use self::status_view::StatusResult;
use crate::past_time::{Since, parse_since};
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::live_figures::UnderWay;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::{tend_open, tend_records};

#[derive(Args, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is an option that is given or not"
)]
pub(crate) struct StatusArgs {
    /// Run or session to show in full: an id or its beginning, last, last~2, or the name of a task or agent
    id: Option<String>,
    /// Also list the finished runs of this project, newest first, as ls does
    #[arg(long)]
    all: bool,
    /// List only runs that began within this time, such as 30m, 2h, 3d or 1w, or since a date such as 2026-11-01; finished runs too
    #[arg(long, value_name = "TIME", value_parser = parse_since, conflicts_with = "id")]
    since: Option<Since>,
    /// List only the runs that failed
    #[arg(long, conflicts_with = "id")]
    failed: bool,
    /// List at most this number of runs, finished ones too [default: on a terminal 50, elsewhere no limit]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "id")]
    limit: Option<u32>,
    /// Which runs come first: the newest (age), the most expensive (cost), the longest (time), by name, or by state with the running ones first (status)
    #[arg(long, value_enum, default_value_t = Sort::Age, hide_default_value = true, conflicts_with = "id")]
    sort: Sort,
    /// List the pools of the fleet instead: how many runs are queued and running, which workers take them, and the runs of other machines
    #[arg(long, conflicts_with_all = ["id", "all", "since", "failed", "limit", "watch"])]
    fleet: bool,
    /// Print the list again whenever something changes, until you interrupt it or the named run has ended
    #[arg(long)]
    watch: bool,
}

impl StatusArgs {
    /// Returns which runs are asked for.
    fn choice(&self, now: Timestamp) -> Choice {
        Choice {
            // A person who asks for failed, past or a number of runs asks for finished ones.
            finished: self.all || self.failed || self.since.is_some() || self.limit.is_some(),
            since: self.since.map(|since| since.time(now)),
            failed: self.failed,
            sort: self.sort,
        }
    }
}

pub(crate) fn run(args: &StatusArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    if args.fleet {
        return fleet::run(&places, printer);
    }
    let index = KnownIndex::of(&places);
    tend(args, &index, &places);
    let args = with_whole_id(args, &index, &places, printer)?;
    if args.watch {
        return block_on(watch::watch(&args, &index, &places, printer));
    }
    let seen = Seen::look(&args, &index, &places, &mut UnderWay::default())?;
    if printer.is_json() {
        printer.json(&seen.json());
    } else {
        let sheet = Sheet::of_stdout(&places);
        printer.painted(&sheet.text(&seen.lines(&sheet, Timestamp::now())));
    }
    Ok(ExitCode::SUCCESS)
}

/// Tends the records of runs. A list of runs in progress needs no more of the index than they do.
fn tend(args: &StatusArgs, index: &KnownIndex, places: &Places) {
    if args.id.is_some() {
        tend_records(index, places);
        return;
    }
    let depth = args.choice(Timestamp::now()).depth();
    // An index that cannot be read is reported by the list.
    if let Ok(survey) = index.survey(places, depth) {
        tend_open(index, places, &survey.open);
    }
}

/// Returns the arguments with the whole id in place of the typed word: while runs are watched,
/// `last` stays the run that it was at the beginning.
fn with_whole_id(
    args: &StatusArgs,
    index: &KnownIndex,
    places: &Places,
    printer: Printer,
) -> Result<StatusArgs, CommandError> {
    let mut args = args.clone();
    let typed = TypedIds::newest(index, places, printer);
    if let Some(id) = &mut args.id {
        *id = typed
            .whole_id(id)
            .map_err(|error| ask_which(&error, |run| format!("pi-subagents status {run}")))?;
    }
    Ok(args)
}
