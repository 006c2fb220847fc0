//! `steer`, `stop` and `wait`: control of runs, whoever of this user owns them.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_engine::{AskError, OwnerReply, OwnerRequest, Want, ask, end_leftovers};
use pi_subagents_sessions::{IndexedRun, RunState, Store};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::commands::block_on;
use crate::commands::read::joined;
use crate::error::CommandError;
use crate::exit;
use crate::owner::{current_runs, is_owned};
use crate::places::Places;
use crate::print::Printer;
use crate::recorded::{current, find_runs, find_runs_of_each, how_to_resume, status_of};

/// How often a run is looked at whose owner cannot be asked.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct SteerArgs {
    /// The id of a running run or session, or the beginning of it
    id: String,
    /// What it hears; words are joined, and - reads it from stdin
    #[arg(required = true)]
    message: Vec<String>,
}

#[derive(Args)]
pub(crate) struct StopArgs {
    /// Ids of runs or sessions, or the beginnings of them
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    ids: Vec<String>,
    /// Stop everything of this user that runs
    #[arg(long)]
    all: bool,
}

#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Ids of runs or sessions, or the beginnings of them; a session is what runs in it, else its latest run
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Return when the first of them is over
    #[arg(long)]
    any: bool,
}

pub(crate) fn steer(args: &SteerArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let message = joined("message", &args.message)?;
    let run = find_runs(&store, &places, &args.id)?
        .into_iter()
        .rfind(IndexedRun::is_open)
        .ok_or_else(|| not_running(&args.id))?;
    match block_on(async { request(&run, Want::Steer { message }).await })? {
        OwnerReply::Done => {
            if printer.is_json() {
                printer.json(&json!({"runId": run.run.as_str(), "steered": true}));
            } else {
                printer.data(&format!("{} hears it before its next turn.", run.name));
            }
            Ok(ExitCode::SUCCESS)
        }
        OwnerReply::Refused { message } => Err(CommandError::failed(message)),
    }
}

pub(crate) fn stop(args: &StopArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let mut asked = if args.all {
        current_runs(&store)?
    } else {
        runs_of_all(&store, &places, &args.ids, |runs| runs)?
    };
    asked.retain(IndexedRun::is_open);
    let problems = block_on(stop_all(asked.clone()))?;
    let mut stopped = current_runs(&store)?;
    stopped.retain(|run| asked.iter().any(|one| one.run == run.run));
    print_stopped(&stopped, printer);
    if stopped.iter().all(|run| !run.is_open()) {
        return Ok(ExitCode::SUCCESS);
    }
    for problem in &problems {
        printer.note(&format!("! {problem}"));
    }
    Ok(ExitCode::FAILURE)
}

/// Asks all owners at once, and tells what went wrong.
async fn stop_all(runs: Vec<IndexedRun>) -> Result<Vec<String>, CommandError> {
    let mut asked = JoinSet::new();
    for run in runs {
        asked.spawn(async move {
            match request(&run, Want::Stop).await {
                // An owner that has forgotten the run has ended it by itself.
                Ok(OwnerReply::Done | OwnerReply::Refused { .. }) => None,
                Err(_) if !is_owned(&run) => {
                    end_leftovers(&run.run);
                    None
                }
                Err(error) => Some(error.to_text()),
            }
        });
    }
    let mut problems = Vec::new();
    while let Some(joined) = asked.join_next().await {
        problems.extend(joined.unwrap_or_else(|error| Some(error.to_string())));
    }
    Ok(problems)
}

fn print_stopped(runs: &[IndexedRun], printer: Printer) {
    if printer.is_json() {
        let rows: Vec<Value> = runs.iter().map(name_json).collect();
        printer.json(&json!({"stopped": rows}));
    } else if runs.is_empty() {
        printer.data("Nothing was running.");
    } else {
        let lines: Vec<String> = runs
            .iter()
            .map(|run| {
                let what = if run.is_open() {
                    "still running:"
                } else {
                    "stopped"
                };
                format!("{what} {} (session: {})", run.name, run.session)
            })
            .collect();
        printer.data(&lines.join("\n"));
    }
}

pub(crate) fn wait(args: &WaitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let runs = runs_of_all(&store, &places, &args.ids, current)?;
    let is_one_over = runs.iter().any(|run| !run.is_open());
    if !(args.any && is_one_over) {
        let open = runs.iter().filter(|run| run.is_open()).cloned().collect();
        block_on(wait_for(open, args.any))?;
    }
    let mut over = current_runs(&store)?;
    over.retain(|run| !run.is_open() && runs.iter().any(|one| one.run == run.run));
    let codes: Vec<i32> = over
        .iter()
        .map(|run| match run.state {
            RunState::Over { exit_code, .. } => exit_code,
            RunState::Open => 1,
        })
        .collect();
    if printer.is_json() {
        let rows: Vec<Value> = over.iter().map(name_json).collect();
        printer.json(&json!({"runs": rows}));
    } else {
        let lines: Vec<String> = over.iter().map(ended_line).collect();
        printer.data(&lines.join("\n"));
    }
    Ok(exit::of_runs(codes))
}

/// Waits for all of them, or for the first.
async fn wait_for(runs: Vec<IndexedRun>, any: bool) -> Result<(), CommandError> {
    let mut waiting = JoinSet::new();
    for run in runs {
        waiting.spawn(async move {
            // An owner that has forgotten the run or is gone is no longer waited for; one that
            // has no socket is watched instead.
            if request(&run, Want::Wait).await.is_err() {
                while is_owned(&run) && !run.directory.result().exists() {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            }
        });
    }
    while waiting.join_next().await.is_some() {
        if any {
            break;
        }
    }
    Ok(())
}

fn ended_line(run: &IndexedRun) -> String {
    let status = status_of(run).as_str();
    format!("{}: {status} (session: {})", run.name, run.session)
}

fn name_json(run: &IndexedRun) -> Value {
    let exit_code = match run.state {
        RunState::Open => None,
        RunState::Over { exit_code, .. } => Some(exit_code),
    };
    json!({
        "runId": run.run.as_str(),
        "sessionId": run.session.as_str(),
        "name": run.name,
        "status": status_of(run).as_str(),
        "exitCode": exit_code,
    })
}

/// Asks the owner of a run, whichever process that is.
pub(crate) async fn request(run: &IndexedRun, want: Want) -> Result<OwnerReply, CommandError> {
    let Some(socket) = &run.owner.socket else {
        return Err(CommandError::failed(format!(
            "the owner of run {} (pid {}) cannot be reached: it has no socket",
            run.run, run.owner.pid
        )));
    };
    let request = OwnerRequest {
        run: run.run.to_string(),
        want,
    };
    ask(socket, &request).await.map_err(|error: AskError| {
        CommandError::failed(format!("run {} cannot be reached", run.run)).because(&error)
    })
}

/// The runs of several ids, each once; of those of one id, the ones that are meant.
fn runs_of_all(
    store: &Store,
    places: &Places,
    ids: &[String],
    meant: fn(Vec<IndexedRun>) -> Vec<IndexedRun>,
) -> Result<Vec<IndexedRun>, CommandError> {
    let mut runs: Vec<IndexedRun> = Vec::new();
    for of_id in find_runs_of_each(store, places, ids)? {
        for run in meant(of_id) {
            if !runs.iter().any(|known| known.run == run.run) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

fn not_running(id: &str) -> CommandError {
    CommandError::failed(format!("{id} is not running")).hint(how_to_resume(id))
}
