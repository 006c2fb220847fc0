//! `export`: writes runs into one file for other people.

use std::process::ExitCode;

use clap::{ArgGroup, Args};
use serde_json::Value;

use super::output_file::WrittenArgs;
use super::read_runs;
use crate::markdown_file::markdown_file;
use crate::places::find_places;
use crate::read_conversation::{Scope, read_conversation};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_web::{export_data, export_file};

#[derive(Args)]
#[command(group = ArgGroup::new("format").args(["markdown", "html"]).required(true))]
pub(crate) struct ExportArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Write Markdown, with the tool calls folded; of one run or session
    #[arg(long)]
    markdown: bool,
    /// Write a page that opens in a browser from disk, without a network: the runs with their timeline, and keys taken out
    #[arg(long)]
    html: bool,
    #[command(flatten)]
    written: WrittenArgs,
}

pub(crate) fn run(args: &ExportArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    if args.html {
        return html(args, &places, printer);
    }
    let [id] = args.ids.as_slice() else {
        return Err(CommandError::usage("--markdown writes one run or session")
            .hint("Use --html to write several runs into one file."));
    };
    let zone = Sheet::of_stdout(&places).zone().clone();
    let conversation = read_conversation(&places, id, "export", printer, Scope::Meant)?;
    let page = markdown_file(&conversation, &zone)?;
    let usual = format!("subagent-{}.md", conversation.session());
    args.written.write(&page, &usual, &places, printer)?;
    conversation.note_state(printer);
    printer
        .note("Read the file before you pass it on: it holds whatever the run has read and said.");
    Ok(ExitCode::SUCCESS)
}

/// Writes the runs into a page.
fn html(args: &ExportArgs, places: &Places, printer: Printer) -> Result<ExitCode, CommandError> {
    let mut runs = Vec::new();
    for id in &args.ids {
        runs.extend(read_runs::meant(id, "export", places, printer)?);
    }
    let exported = export_data(&runs, &places.home).map_err(|error| {
        CommandError::failed("could not read the record of a run").because(&error)
    })?;
    let usual = match runs.first() {
        Some(run) => format!("subagent-{}.html", run.session),
        None => "subagent.html".to_owned(),
    };
    args.written
        .write(&export_file(&exported.data), &usual, places, printer)?;
    for note in notes(&exported.redacted) {
        printer.note(&note);
    }
    Ok(ExitCode::SUCCESS)
}

/// The number of places of one kind of secret that are named.
const MOST_PLACES: usize = 3;

/// Describes the parts that were taken out, and where they stood.
fn notes(redacted: &Value) -> Vec<String> {
    let redacted = redacted.as_array().map_or(&[][..], Vec::as_slice);
    let mut notes: Vec<String> = redacted.iter().map(note).collect();
    notes.push("Read the file before you pass it on: no program finds every secret.".to_owned());
    notes
}

fn note(one: &Value) -> String {
    let what = one["what"].as_str().unwrap_or_default();
    let times = match one["times"].as_u64() {
        Some(1) => "once".to_owned(),
        times => format!("{} times", times.unwrap_or(0)),
    };
    let places = one["places"].as_array().map_or(&[][..], Vec::as_slice);
    let named = places.iter().take(MOST_PLACES).filter_map(Value::as_str);
    let named = named.collect::<Vec<_>>().join("; ");
    let more = match places.len().saturating_sub(MOST_PLACES) {
        0 => "",
        _ => "; …",
    };
    format!("Taken out: {what} ({times}) in {named}{more}")
}
