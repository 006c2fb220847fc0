//! `wait`: returns when runs are over, says how they ended, and exits as they did.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::{Status, text};
use pi_subagents_sessions::{IndexedRun, RecordedRun, RunState, Store};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::doors::command_line::commands::control::runs_of_all;
use crate::error::CommandError;
use crate::exit;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::find::current;
use crate::runs::owned::current_runs;
use crate::runs::owner_request::wait_for_one;
use crate::runtime::block_on;

#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Ids of runs or sessions; the beginning of each is enough. A session stands for its runs in progress, or for its latest run if there are none
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Return when the first of the runs has ended
    #[arg(long)]
    any: bool,
}

pub(crate) fn run(args: &WaitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let asked = runs_of_all(&store, &places, &args.ids, "wait", current)?;
    let is_one_over = asked.iter().any(|run| !run.is_open());
    if !(args.any && is_one_over) {
        let open = asked.iter().filter(|run| run.is_open()).cloned().collect();
        block_on(wait_for(open, args.any, printer))?;
    }
    let mut runs = current_runs(&store)?;
    runs.retain(|run| asked.iter().any(|one| one.run == run.run));
    let over: Vec<Ended> = runs.into_iter().filter_map(Ended::of).collect();
    if printer.is_json() {
        let rows: Vec<Value> = over.iter().map(Ended::json).collect();
        printer.json(&json!({"runs": rows}));
    } else {
        for run in &over {
            run.print(printer);
        }
    }
    Ok(exit::of_runs(over.iter().map(|run| run.exit_code)))
}

/// Waits for all of them, or for the first.
async fn wait_for(
    runs: Vec<IndexedRun>,
    any: bool,
    printer: Printer<'_>,
) -> Result<(), CommandError> {
    let (tell, mut told) = mpsc::channel(runs.len().max(1));
    let mut waiting: JoinSet<()> = runs
        .into_iter()
        .map(|run| {
            let tell = tell.clone();
            async move { wait_for_one(&run, &tell).await }
        })
        .collect();
    drop(tell);
    loop {
        tokio::select! {
            Some(note) = told.recv() => printer.note(&note),
            joined = waiting.join_next() => if any || joined.is_none() {
                return Ok(());
            },
        }
    }
}

/// A run that is over.
struct Ended {
    run: IndexedRun,
    status: Status,
    exit_code: i32,
    /// Why it did not complete.
    error: Option<String>,
}

impl Ended {
    /// None as long as it runs.
    fn of(run: IndexedRun) -> Option<Self> {
        let recorded = RecordedRun::read(&run.directory)
            .ok()
            .and_then(|run| run.end);
        // Its owner writes the result first, and the line in the index after it.
        let (status, exit_code) = match (run.state, &recorded) {
            (
                RunState::Over {
                    status, exit_code, ..
                },
                _,
            ) => (status, exit_code),
            (RunState::Open, Some(end)) => (end.status, end.exit_code),
            (RunState::Open, None) => return None,
        };
        Some(Self {
            run,
            status,
            exit_code,
            error: recorded.and_then(|end| end.error_message),
        })
    }

    /// How it ended is data; why, if it did not complete, is for people.
    fn print(&self, printer: Printer) {
        let run = &self.run;
        let status = self.status.as_str();
        let name = text::one_line(&run.name);
        printer.data(&format!("{name}: {status} (session: {})", run.session));
        if let Some(error) = &self.error {
            printer.note(&format!("{name}: {}", text::one_line(error)));
        }
    }

    fn json(&self) -> Value {
        json!({
            "runId": self.run.run.as_str(),
            "sessionId": self.run.session.as_str(),
            "name": self.run.name,
            "status": self.status.as_str(),
            "exitCode": self.exit_code,
            "errorMessage": self.error,
        })
    }
}
