//! `output` and `session`: what a run said.

use std::io::{self, Read as _};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::{Ending, RunHistory};
use pi_subagents_sessions::{FindError, Found, IndexedRun, Store, history, transcript};
use serde_json::{Value, json};

use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::owner::close_abandoned;
use crate::places::Places;
use crate::print::Printer;

#[derive(Args)]
pub(crate) struct IdArgs {
    /// The id of a run or session, or the beginning of it
    id: String,
}

pub(crate) fn output(args: &IdArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let runs = runs_of(&args.id)?;
    let count = runs.len();
    let latest = latest(&args.id, runs)?;
    let run = read(&latest)?;
    let text = run
        .output()
        .unwrap_or_else(|| transcript::NO_TEXT.to_owned());
    if printer.is_json() {
        let details = details(
            &latest,
            &run,
            json!({"runCount": count, "maxLines": max_lines()?}),
        );
        printer.json(&answer(&text, &details));
    } else {
        printer.data(&text);
        if let Some(message) = run.summary.ending.as_ref().and_then(Ending::message) {
            printer.note(&format!("! {message}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn session(args: &IdArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let runs = runs_of(&args.id)?;
    let histories: Vec<RunHistory> = runs.iter().map(read).collect::<Result<_, _>>()?;
    let text = transcript::for_reading(&histories);
    if !printer.is_json() {
        printer.data(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let more = json!({
        "maxLines": max_lines()?,
        "runCount": runs.len(),
        "messageCount": histories.iter().map(|run| run.messages.len()).sum::<usize>(),
    });
    let latest = latest(&args.id, runs)?;
    let summary = histories
        .last()
        .map_or(Value::Null, |run| details(&latest, run, more));
    printer.json(&answer(&text, &summary));
    Ok(ExitCode::SUCCESS)
}

/// How many lines of it are shown where lines are few.
fn max_lines() -> Result<usize, CommandError> {
    let places = Places::find()?;
    Ok(Configuration::read(&places, false)
        .settings
        .max_lines_per_window)
}

fn answer(text: &str, details: &Value) -> Value {
    json!({"content": [{"type": "text", "text": text}], "details": details})
}

fn details(run: &IndexedRun, history: &RunHistory, more: Value) -> Value {
    let summary = &history.summary;
    let mut details = json!({
        "sessionId": run.session.as_str(),
        "runId": run.run.as_str(),
        "taskName": run.name,
        "status": summary.status().as_delegation_word(),
        "exitCode": summary.ending.as_ref().map(Ending::exit_code),
        "errorMessage": summary.ending.as_ref().and_then(Ending::message),
        "model": summary.model,
    });
    if let (Value::Object(details), Value::Object(more)) = (&mut details, more) {
        details.extend(more);
    }
    details
}

/// Finds an id; runs that the index lost are found in their project's directory.
pub(super) fn find(store: &Store, places: &Places, id: &str) -> Result<Found, CommandError> {
    close_abandoned(store);
    let found = match store.find(id) {
        Err(FindError::NotFound(_)) if store.reindex(&places.project).is_ok_and(|n| n > 0) => {
            store.find(id)
        }
        other => other,
    };
    found.map_err(|error| match error {
        FindError::NotFound(_) => CommandError::not_found(error.to_string())
            .hint("pi-subagents status --all lists the runs of this project."),
        FindError::Ambiguous { .. } => {
            CommandError::usage(error.to_string()).hint("Give more of the id.")
        }
        FindError::Unreadable { .. } => CommandError::failed("no index").because(&error),
    })
}

fn runs_of(id: &str) -> Result<Vec<IndexedRun>, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    Ok(find(&store, &places, id)?.into_runs())
}

fn latest(id: &str, runs: Vec<IndexedRun>) -> Result<IndexedRun, CommandError> {
    runs.into_iter()
        .next_back()
        .ok_or_else(|| CommandError::not_found(format!("session {id} has no runs")))
}

fn read(run: &IndexedRun) -> Result<RunHistory, CommandError> {
    history(&run.directory).map_err(|error| {
        CommandError::failed(format!(
            "the record of run {} in {} cannot be read",
            run.run,
            run.directory.path().display()
        ))
        .because(&error)
    })
}

/// Words of the command line as one text; `-` alone reads it from stdin.
pub(super) fn joined(words: &[String]) -> Result<String, CommandError> {
    let text = if words == ["-"] {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| CommandError::usage("stdin cannot be read").because(&error))?;
        text
    } else {
        words.join(" ")
    };
    if text.trim().is_empty() {
        return Err(CommandError::usage("the text must not be empty"));
    }
    Ok(text)
}
