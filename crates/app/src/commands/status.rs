//! `status`: what runs, and what ran.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_delegation::{Status, Timestamp, text};
use pi_subagents_sessions::{IndexedRun, RunState, Store};
use serde_json::{Value, json};

use crate::counts::Counts;
use crate::error::CommandError;
use crate::owner::close_abandoned;
use crate::places::Places;
use crate::print::Printer;
use crate::recorded::find_runs;

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// One run or session, by its id or the beginning of it
    id: Option<String>,
    /// Also list what is over in this project
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &StatusArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let (counted, listed) = if let Some(id) = &args.id {
        let runs = find_runs(&store, &places, id)?;
        (Counts::of(runs.iter().map(status)), runs)
    } else {
        close_abandoned(&store);
        let mut runs = store
            .runs()
            .map_err(|error| CommandError::failed("the index cannot be read").because(&error))?;
        // What runs is shown wherever it runs; what is over only where it belongs.
        runs.retain(|run| run.is_open() || run.project == places.project);
        let counts = Counts::of(runs.iter().map(status));
        runs.retain(|run| args.all || run.is_open());
        (counts, runs)
    };
    if printer.is_json() {
        let rows: Vec<Value> = listed.iter().map(row_json).collect();
        printer.json(&json!({"counts": counted.json(), "runs": rows}));
    } else {
        printer.data(&table(counted, &listed, Timestamp::now()));
    }
    Ok(ExitCode::SUCCESS)
}

fn status(run: &IndexedRun) -> Status {
    match run.state {
        RunState::Open => Status::Running,
        RunState::Over { status, .. } => status,
    }
}

fn row_json(run: &IndexedRun) -> Value {
    let (ended_at, exit_code) = match run.state {
        RunState::Open => (None, None),
        RunState::Over { at, exit_code, .. } => (Some(at.to_string()), Some(exit_code)),
    };
    json!({
        "runId": run.run.as_str(),
        "sessionId": run.session.as_str(),
        "name": run.name,
        "status": status(run).as_str(),
        "exitCode": exit_code,
        "project": run.project,
        "acceptedAt": run.accepted_at.to_string(),
        "endedAt": ended_at,
        "ownerPid": run.owner.pid,
        "directory": run.directory.path(),
    })
}

fn table(counts: Counts, runs: &[IndexedRun], now: Timestamp) -> String {
    let mut lines = vec![counts.line()];
    let names = runs.iter().map(|run| run.name.chars().count());
    let width = names.max().unwrap_or(0).min(24);
    for run in runs {
        let name = text::cut_columns(&text::clean(&run.name).replace('\n', " "), width.max(3));
        lines.push(format!(
            "{}{name:width$}  {:9}  {:>8}  {}  {}",
            icon(status(run)),
            status(run).as_str(),
            text::duration(lasted(run, now)),
            run.session,
            run.run,
        ));
    }
    if runs.is_empty() && counts.total() > 0 {
        lines.push("Nothing is running. pi-subagents status --all lists what ran here.".to_owned());
    }
    lines.join("\n")
}

/// Three columns; the hourglass alone takes two of them.
fn icon(status: Status) -> &'static str {
    match status {
        Status::Queued | Status::Running => "⏳ ",
        Status::Completed => "✓  ",
        Status::Failed | Status::Aborted => "✗  ",
    }
}

fn lasted(run: &IndexedRun, now: Timestamp) -> Duration {
    let end = match run.state {
        RunState::Open => now,
        RunState::Over { at, .. } => at,
    };
    Duration::try_from(end.duration_since(run.accepted_at)).unwrap_or_default()
}
