//! `steer` and `stop`: control of runs, whoever of this user owns them.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::Status;
use pi_subagents_delegation::text::one_line;
use pi_subagents_engine::{
    AskError, OwnerAddress, OwnerReply, OwnerRequest, Want, ask, end_without_owner,
};
use pi_subagents_sessions::{FindError, IndexedRun, RunState, Store};
use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_blocking};

use crate::commands::block_on;
use crate::commands::read::joined;
use crate::conversations::{ask_which, of_one_conversation};
use crate::error::CommandError;
use crate::owner::{OwnerProcess as _, current_runs, is_owned};
use crate::places::Places;
use crate::print::Printer;
use crate::recorded::{find_runs, find_runs_of_each, how_to_resume, status_of};

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

pub(crate) fn steer(args: &SteerArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let message = joined("message", &args.message)?;
    let mut runs = find_runs(&store, &places, &args.id)?;
    runs.retain(IndexedRun::is_open);
    let run = of_one_conversation(runs, None, |run| Some(run))
        .map_err(|error| ask_which(error, |run| format!("pi-subagents steer {run} MESSAGE")))?
        .pop()
        .ok_or_else(|| not_running(&args.id))?;
    match block_on(async { request(&run, Want::Steer { message }).await })? {
        OwnerReply::Done => {
            if printer.is_json() {
                printer.json(&json!({"runId": run.run.as_str(), "steered": true}));
            } else {
                let name = one_line(&run.name);
                printer.data(&format!("{name} hears it before its next turn."));
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
        runs_of_all(&store, &places, &args.ids, "stop", |mut runs| {
            runs.retain(IndexedRun::is_open);
            of_one_conversation(runs, None, |run| Some(run))
        })?
    };
    asked.retain(IndexedRun::is_open);
    let told = block_on(stop_all(store.clone(), asked.clone()))?;
    let mut stopped = current_runs(&store)?;
    stopped.retain(|run| asked.iter().any(|one| one.run == run.run));
    print_stopped(args, &stopped, printer);
    let is_all_over = stopped.iter().all(|run| !run.is_open());
    for told in told {
        match told {
            Ok(note) => printer.note(&format!("! {note}")),
            Err(_) if is_all_over => {}
            Err(problem) => printer.note(&format!("! {problem}")),
        }
    }
    Ok(if is_all_over {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Asks all owners at once; gives what a person should know about it, or what went wrong.
pub(crate) async fn stop_all(
    store: Store,
    runs: Vec<IndexedRun>,
) -> Result<Vec<Result<String, String>>, CommandError> {
    let mut asked = JoinSet::new();
    for run in runs {
        let store = store.clone();
        asked.spawn(async move {
            match stop_run(&store, &run).await {
                Ok(note) => note.map(Ok),
                Err(error) => Some(Err(error.sentence())),
            }
        });
    }
    let mut told = Vec::new();
    while let Some(joined) = asked.join_next().await {
        told.extend(joined.unwrap_or_else(|error| Some(Err(error.to_string()))));
    }
    Ok(told)
}

/// Stops a run and returns when nothing of it is left. An owner that does not answer is not waited
/// for: then the run is ended without it, and what is given says so.
pub(crate) async fn stop_run(
    store: &Store,
    run: &IndexedRun,
) -> Result<Option<String>, CommandError> {
    let error = match ask_owner(run, Want::Stop).await {
        // An owner that has forgotten the run has ended it by itself.
        Ok(OwnerReply::Done | OwnerReply::Refused { .. }) => return Ok(None),
        Err(error) => error,
    };
    if run.owner_process().is_none() {
        return Err(error.for_person(run));
    }
    let (store, ended) = (store.clone(), run.clone());
    let closed = spawn_blocking(move || {
        end_without_owner(&ended.run);
        // The record of an owner that is gone is closed by whoever looks at it next.
        if is_owned(&ended) {
            store.close_stopped(&ended).map(drop)
        } else {
            Ok(())
        }
    });
    match closed.await {
        Ok(Ok(())) => Ok(is_owned(run).then(|| error.ended_without(run))),
        Ok(Err(error)) => {
            let text = format!("the end of run {} cannot be written down", run.run);
            Err(CommandError::failed(text).because(&error))
        }
        Err(error) => Err(CommandError::failed("stop failed").because(&error)),
    }
}

fn print_stopped(args: &StopArgs, runs: &[IndexedRun], printer: Printer) {
    if printer.is_json() {
        let rows: Vec<Value> = runs.iter().map(name_json).collect();
        printer.json(&json!({"stopped": rows}));
    } else if runs.is_empty() {
        printer.data(&nothing_stopped(args));
    } else {
        let lines: Vec<String> = runs.iter().map(stopped_line).collect();
        printer.data(&lines.join("\n"));
    }
}

fn stopped_line(run: &IndexedRun) -> String {
    let (name, session) = (one_line(&run.name), &run.session);
    match status_of(run) {
        Status::Queued | Status::Running => format!("{name} still runs (session: {session})"),
        Status::Aborted => format!("stopped {name} (session: {session})"),
        status @ (Status::Completed | Status::Failed) => {
            let status = status.as_str();
            format!("{name} had {status} by itself (session: {session})")
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
    let asked = ask_owner(run, want).await;
    asked.map_err(|error| error.for_person(run))
}

/// Why the owner of a run did not do what it was asked for.
pub(super) enum NotAsked {
    NoSocket,
    NoAnswer(AskError),
}

pub(super) async fn ask_owner(run: &IndexedRun, want: Want) -> Result<OwnerReply, NotAsked> {
    let socket = run.owner.socket.as_ref().ok_or(NotAsked::NoSocket)?;
    let owner = OwnerAddress {
        socket,
        process: run.owner_process(),
    };
    let request = OwnerRequest {
        run: run.run.to_string(),
        want,
    };
    ask(owner, &request).await.map_err(NotAsked::NoAnswer)
}

impl NotAsked {
    /// As a person reads it who wanted something of the run.
    fn for_person(&self, run: &IndexedRun) -> CommandError {
        let (id, pid) = (&run.run, run.owner.pid);
        match self {
            Self::NoSocket => CommandError::failed(format!(
                "the owner of run {id} (pid {pid}) cannot be reached: it has no socket"
            ))
            .hint("pi-subagents doctor says whether owners can listen where they should."),
            Self::NoAnswer(AskError::Stopped { .. }) => CommandError::failed(format!(
                "the owner of run {id} (pid {pid}) is stopped and hears nothing"
            ))
            .hint(format!(
                "kill -CONT {pid} continues it (or fg, in its shell); pi-subagents stop {id} ends \
                 the run without it."
            )),
            Self::NoAnswer(error) => {
                CommandError::failed(format!("run {id} cannot be reached")).because(error)
            }
        }
    }

    /// Says that a run was ended although its owner did not answer.
    fn ended_without(&self, run: &IndexedRun) -> String {
        let (name, pid) = (one_line(&run.name), run.owner.pid);
        match self {
            Self::NoAnswer(AskError::Stopped { .. }) => format!(
                "the owner of {name} (pid {pid}) is stopped, so the run was ended without it; \
                 kill -CONT {pid} continues the owner, kill -KILL {pid} ends it"
            ),
            Self::NoAnswer(_) | Self::NoSocket => format!(
                "the owner of {name} (pid {pid}) did not answer, so the run was ended without it"
            ),
        }
    }
}

/// The runs of several ids, each once; of those of one id, the ones that are meant. Who cannot
/// know which are, because the id is that of several conversations, is asked.
pub(super) fn runs_of_all(
    store: &Store,
    places: &Places,
    ids: &[String],
    command: &str,
    meant: fn(Vec<IndexedRun>) -> Result<Vec<IndexedRun>, FindError>,
) -> Result<Vec<IndexedRun>, CommandError> {
    let mut runs: Vec<IndexedRun> = Vec::new();
    for of_id in find_runs_of_each(store, places, ids)? {
        let which = |error| ask_which(error, |run| format!("pi-subagents {command} {run}"));
        for run in meant(of_id).map_err(which)? {
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
