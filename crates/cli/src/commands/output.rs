//! `output`: prints the answer of a run.

use pi_subagents_vocabulary::{Advice, Door};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_view::{Line, Role, receipt_facts};
use pi_subagents_vocabulary::{HeldMessages, Receipt, RunId, SessionId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::answer_output::CallResult;
use crate::commands::markdown_output::print_markdown;
use crate::places::find_places;
use pi_subagents_calls::families::delegation::ReadSession;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend_records;

/// The column at which the facts of a receipt begin.
const MARGIN: usize = 10;

#[derive(Args)]
pub(crate) struct IdArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
}

#[derive(Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    id: IdArgs,
    /// Print the receipt in place of the answer: tool calls, changed files, commands with exit codes, tests, as they were seen
    #[arg(long)]
    receipt: bool,
}

pub(crate) fn output(args: &OutputArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let (session, places, max_lines) = read(&args.id.id, "output", printer)?;
    let session = session.only_meant()?;
    if args.receipt {
        return print_receipt(&session, &places, printer);
    }
    if let Some(why) = session.why_no_answer() {
        return Err(why);
    }
    let answer = session.output(max_lines);
    if printer.is_json() {
        printer.json(&to_json(&session, &answer.text));
    } else {
        print_markdown(&answer.text, &places, printer);
        note_state(&session, printer);
        if let Some(problem) = session.problem(Door::CommandLine) {
            printer.note(&problem);
        }
    }
    // A person reads what there is, and a script must not take it for an answer.
    Ok(if session.has_answered() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::NO_ANSWER)
    })
}

/// The JSON of a receipt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceiptResult {
    run_id: RunId,
    session_id: SessionId,
    receipt: Receipt,
}

/// Returns the answer for programs, in the shape that `run --json` has too.
fn to_json(session: &ReadSession, text: &str) -> CallResult {
    let latest = session.runs().last();
    let rows = latest.and_then(|(run, history)| {
        let row = RunRow::read(run.record()?);
        Some(row.with_output(history.output()))
    });
    let rows: Vec<RunRow> = rows.into_iter().collect();
    let warnings: Vec<String> = session.missing().into_iter().collect();
    CallResult::of_runs(rows, text, warnings)
}

fn print_receipt(
    session: &ReadSession,
    places: &Places,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let latest_run = session.runs().last();
    let latest = latest_run.and_then(|(run, history)| Some((run, history.summary.receipt()?)));
    let Some((run, receipt)) = latest else {
        let id =
            latest_run.map_or_else(|| session.id().to_string(), |(run, _)| run.run.to_string());
        let words = format!("nothing was seen of run {id}: it has not answered yet");
        let error = CommandError::no_answer(words);
        return Err(error.advise("See how it stands: ", Advice::Status(id), ""));
    };
    if printer.is_json() {
        printer.json(&ReceiptResult {
            run_id: run.run.clone(),
            session_id: session.id().clone(),
            receipt,
        });
        return Ok(ExitCode::SUCCESS);
    }
    print_facts(&receipt, places, printer);
    note_state(session, printer);
    Ok(ExitCode::SUCCESS)
}

/// Prints a whole receipt for people.
pub(super) fn print_facts(receipt: &Receipt, places: &Places, printer: Printer) {
    let sheet = Sheet::of_stdout(places);
    let facts = receipt_facts(receipt, usize::MAX).into_iter();
    let lines = facts.flat_map(|(label, role, words)| {
        let line = Line::new(Role::Muted, &format!("{label:MARGIN$}")).with(role, &words);
        sheet.hang(&line, MARGIN)
    });
    printer.painted(&sheet.text(&lines.collect::<Vec<_>>()));
}

/// Prints notes about missing parts, and whether more will come.
fn note_state(session: &ReadSession, printer: Printer) {
    for line in session
        .missing()
        .into_iter()
        .chain(session.more_to_come(Door::CommandLine))
    {
        printer.note(&format!("! {line}"));
    }
}

/// Returns the session, where it was looked for, and the number of lines for short excerpts.
fn read(
    id: &str,
    command: &str,
    printer: Printer,
) -> Result<(ReadSession, Places, usize), CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let typed = TypedIds::newest(&index, &places, printer);
    let found = typed
        .conversation(id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents {command} {run}")))?;
    let settings = Configuration::read_once(&places, false).settings;
    let session = ReadSession::read(found, HeldMessages::LastText)?;
    Ok((session, places, settings.max_lines_per_window))
}
