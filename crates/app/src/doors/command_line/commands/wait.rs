//! `wait`: returns when runs are over, says how they ended, and exits as they did.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::text;
use pi_subagents_sessions::{IndexedRun, Store};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::bell;
use crate::doors::command_line::commands::control::{running, runs_of_all};
use crate::error::CommandError;
use crate::exit;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::find::current;
use crate::runs::follow::Follower;
use crate::runs::owned::current_runs;
use crate::runs::owner_request::wait_for_one;
use crate::runs::row::RunRow;
use crate::runtime::block_on;

#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or definitions. A session stands for its runs in progress, or for its latest run if there are none
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Return when the first of the runs has ended
    #[arg(long)]
    any: bool,
}

pub(crate) fn run(args: &WaitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let typed = running(&store, &places, printer);
    let asked = runs_of_all(typed, &args.ids, "wait", current)?;
    let is_one_over = asked.iter().any(|run| !run.is_open());
    if !(args.any && is_one_over) {
        let open = asked.iter().filter(|run| run.is_open()).cloned().collect();
        block_on(wait_for(open, args.any, printer))?;
    }
    let mut runs = current_runs(&store)?;
    runs.retain(|run| asked.iter().any(|one| one.run == run.run));
    let mut over: Vec<RunRow> = runs.iter().map(RunRow::read).collect();
    over.retain(RunRow::is_over);
    if !printer.is_quiet() && asked.iter().any(IndexedRun::is_open) {
        bell::ring(&ended(&over));
    }
    if printer.is_json() {
        printer.json(&json!({"runs": over}));
    } else {
        for row in &over {
            print(row, printer);
        }
    }
    Ok(exit::of_runs(
        over.iter().filter_map(|row| row.end.exit_code),
    ))
}

/// Waits for all of the runs, or for the first one.
async fn wait_for(
    runs: Vec<IndexedRun>,
    any: bool,
    printer: Printer<'_>,
) -> Result<(), CommandError> {
    let (tell, mut told) = mpsc::channel(runs.len().max(1));
    let follower = Follower::start();
    let mut waiting: JoinSet<()> = runs
        .into_iter()
        .map(|run| {
            let (tell, end) = (tell.clone(), follower.end_of(&run));
            async move { wait_for_one(&run, end, &tell).await }
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

/// Prints how a run ended as data, and why it did not complete as a note for people.
fn print(row: &RunRow, printer: Printer) {
    printer.data(&row.brief());
    if let Some(error) = &row.end.error_message {
        let name = text::one_line(&row.name);
        printer.note(&format!("{name}: {}", text::one_line(error)));
    }
}

/// Says in one line how runs ended.
fn ended(over: &[RunRow]) -> String {
    match over {
        [one] => format!("{} {}", one.name, one.status.as_str()),
        several => format!("{} ended", text::count(several.len(), "run")),
    }
}
