//! `steer` and `stop`: control the runs of this user, whichever process owns them.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend_records;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_records::{FindError, IndexedRun};
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Advice, Door, RunId, Status};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::option_place::OptionPlace;
use crate::commands::words::joined;
use crate::places::find_places;
use crate::runs_result::RunsResult;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::acts::{self, Addressee, Reach};
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::of_one_conversation;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::typed_ids::TypedIds;

#[derive(Args)]
pub(crate) struct SteerArgs {
    #[command(flatten)]
    options: OptionPlace,
    /// Run in progress or its session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
    /// The message; several words are joined, and - reads it from stdin
    #[arg(required = true)]
    message: Vec<String>,
}

#[derive(Args)]
#[command(
    override_usage = "pi-subagents stop [OPTIONS] <ID>...\n       pi-subagents stop [OPTIONS] --all"
)]
pub(crate) struct StopArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    ids: Vec<String>,
    /// Stop all runs of this user
    #[arg(long)]
    all: bool,
}

/// The JSON of `steer`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SteerResult {
    /// The run that has the message.
    run_id: RunId,
    /// When the sub-agent reads it, in a sentence.
    text: String,
}

pub(crate) fn steer(args: &SteerArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    args.options.check(1, args.message.len())?;
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let message = joined("message", &args.message)?;
    let typed = TypedIds::running(&index, &places, printer);
    let which = |error| ask_which(&error, |run| format!("pi-subagents steer {run} MESSAGE"));
    let found = typed.runs(&args.id).map_err(which)?;
    let latest = found.last().cloned();
    let in_progress = found.into_iter().filter(IndexedRun::is_open).collect();
    let run = of_one_conversation(in_progress, None).map_err(which)?;
    let run = run.into_iter().next_back();
    let run = run.ok_or_else(|| not_running(&args.id, latest.as_ref()))?;
    let (reach, to) = (Reach::by_owners(&places), Addressee::from(run));
    let steered = block_on(acts::steer(&reach, &to, message))?;
    if printer.is_json() {
        printer.json(&SteerResult {
            run_id: steered.run.clone(),
            text: steered.sentence(),
        });
    } else {
        printer.data(&steered.sentence());
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn stop(args: &StopArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let mut asked = if args.all {
        index.runs().map_err(find_failure)?.to_vec()
    } else {
        let typed = TypedIds::running(&index, &places, printer);
        runs_of_all(typed, &args.ids, "stop", |mut runs| {
            runs.retain(IndexedRun::is_open);
            of_one_conversation(runs, None)
        })?
    };
    asked.retain(IndexedRun::is_open);
    let reach = Reach::by_owners(&places);
    let stopped = block_on(async { Ok(acts::stop_all(&reach, asked).await) })?;
    let rows = stopped.iter().map(|(run, outcome)| {
        let row = outcome
            .as_ref()
            .ok()
            .and_then(|stopped| stopped.row.clone());
        row.unwrap_or_else(|| RunRow::read(run)).shortened()
    });
    let rows: Vec<RunRow> = rows.collect();
    print_stopped(args, &rows, printer);
    let is_all_over = rows.iter().all(RunRow::is_over);
    for (_, outcome) in stopped {
        let note = match outcome {
            Ok(stopped) => stopped.note(),
            Err(problem) => Some(problem.lines(Door::CommandLine)),
        };
        if let Some(note) = note {
            printer.note(&format!("! {note}"));
        }
    }
    Ok(if is_all_over {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print_stopped(args: &StopArgs, rows: &[RunRow], printer: Printer) {
    if printer.is_json() {
        printer.json(&RunsResult { runs: rows });
    } else if rows.is_empty() {
        printer.data(&nothing_stopped(args));
    } else {
        let lines: Vec<String> = rows.iter().map(stopped_line).collect();
        printer.data(&lines.join("\n"));
    }
}

fn stopped_line(row: &RunRow) -> String {
    let (name, session) = (one_line(&row.report.name), &row.report.session_id);
    match row.report.status {
        Status::Queued | Status::Running | Status::Waiting => {
            format!("{name} still runs (session: {session})")
        }
        Status::Stopped => format!("stopped {name} (session: {session})"),
        Status::Parked => format!("{name} was parked already (session: {session})"),
        status @ (Status::Completed | Status::Failed) => {
            let status = status.as_str();
            format!("{name} had already {status} (session: {session})")
        }
    }
}

fn nothing_stopped(args: &StopArgs) -> String {
    match args.ids.as_slice() {
        [] => "Nothing was running.".to_owned(),
        [id] => format!("{id} was not running."),
        several => format!("None of {} was running.", several.join(", ")),
    }
}

/// Returns the runs of several ids, each once; `meant` chooses among the runs of one id. Fails with
/// a question if an id belongs to several conversations.
pub(super) fn runs_of_all(
    typed: TypedIds<'_>,
    ids: &[String],
    command: &str,
    meant: fn(Vec<IndexedRun>) -> Result<Vec<IndexedRun>, FindError>,
) -> Result<Vec<IndexedRun>, CommandError> {
    let mut runs: Vec<IndexedRun> = Vec::new();
    let which = |error| ask_which(&error, |run| format!("pi-subagents {command} {run}"));
    for of_id in typed.runs_of_each(ids).map_err(which)? {
        for run in meant(of_id).map_err(which)? {
            if !runs.iter().any(|known| known.run == run.run) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// Returns the runs of one conversation for each typed word.
pub(super) fn each_conversation(
    typed: TypedIds<'_>,
    ids: &[String],
    command: &str,
) -> Result<Vec<Vec<IndexedRun>>, CommandError> {
    ids.iter()
        .map(|id| conversations_of(typed, std::slice::from_ref(id), command))
        .collect()
}

/// Returns the runs of the conversations that several ids stand for, each run once.
pub(super) fn conversations_of(
    typed: TypedIds<'_>,
    ids: &[String],
    command: &str,
) -> Result<Vec<IndexedRun>, CommandError> {
    runs_of_all(typed, ids, command, |runs| of_one_conversation(runs, None))
}

/// Says that the run a word stands for is over.
fn not_running(word: &str, run: Option<&IndexedRun>) -> CommandError {
    let (who, id) = match run {
        Some(run) => (
            format!("{} is not running (run {})", one_line(&run.name), run.run),
            run.run.to_string(),
        ),
        None => (format!("{word} is not running"), word.to_owned()),
    };
    let resume = Advice::Resume(id);
    CommandError::failed(who).advise("Continue it with ", resume, ".")
}
