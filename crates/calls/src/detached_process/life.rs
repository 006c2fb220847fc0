//! The life of a detached process: it takes one order, answers, and works it off.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_files::append_own;
use pi_subagents_os::{leave_terminal, silence_stdout};
use pi_subagents_records::{RecordedRun, RunDir};
use serde_json::Value;

use super::order::{DetachedOrder, OrderedTool, Reply, TakenOver};
use crate::begin::{PreparedCaller, begin};
use crate::detached_process::{on_end, whole_call};
use crate::elsewhere::Waiting;
use crate::families::delegation::DelegateCall;
use crate::families::subagent::{SubagentCall, new_session};
use crate::owner::Owner;
use crate::request::{TaskRequest, budget_of};
use crate::service::CallService;
use crate::sweeper;
use crate::work::CallWork;
use crate::{Call as _, ReadyCall};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::Signals;
use pi_subagents_runs::row::RunRow;

/// The length of the longest order.
const LONGEST_ORDER: u64 = 64 * 1024 * 1024;

/// Works off the order on stdin, and replies to the caller on stdout. An order cannot be worked off
/// without places, and is refused.
pub async fn live(places: Result<Places, CommandError>) -> Result<(), CommandError> {
    leave_terminal();
    let mut signals = Signals::listen_detached()?;
    let (order, places) = match read_order().and_then(|order| Ok((order, places?))) {
        Ok(read) => read,
        Err(error) => {
            answer(&Reply::Refused(error));
            return Ok(());
        }
    };
    match order.tool {
        OrderedTool::Background => run_one(order, places, &mut signals).await,
        OrderedTool::Delegate => {
            let call = DelegateCall::parse(&order.arguments);
            Box::pin(whole_call::live(order, places, call, &mut signals)).await;
        }
        OrderedTool::Subagent => {
            let call = SubagentCall::parse(&order.arguments);
            Box::pin(whole_call::live(order, places, call, &mut signals)).await;
        }
    }
    Ok(())
}

/// Runs a task whose end nobody waits for.
async fn run_one(order: DetachedOrder, places: Places, signals: &mut Signals) {
    let (service, ready, directory, places) = match Box::pin(take_over(order, places)).await {
        Ok((service, ready, taken)) => {
            let places = ready.places().clone();
            let directory = taken.row.directory();
            if let Some(directory) = &directory {
                log_panics(directory.path().join("owner.log"));
            }
            answer(&Reply::TakenOver(Box::new(taken)));
            (service, ready, directory, places)
        }
        Err(error) => return answer(&Reply::Refused(error)),
    };
    let owner = service.owner;
    let known_children = owner.known_children.clone();
    let CallWork { begin, .. } = ready.into_work(&owner);
    owner.until_signalled(signals, begin(Vec::new())).await;
    owner.leave().await;
    if let Some(directory) = directory {
        on_end::run(&places, &directory, &known_children).await;
        sweeper::start_if_due(&places, &known_children);
    }
}

/// Becomes the owner of the run: from here on its record names us.
async fn take_over(
    order: DetachedOrder,
    places: Places,
) -> Result<(CallService, ReadyCall<SubagentCall>, TakenOver), CommandError> {
    let owner = Owner::start_detached(&places, order.caller.detached(), order.concurrency)?;
    let service = CallService::of_owner(owner);
    let caller = order.caller.into_caller(order.tool, places);
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let task = one_task(&order.arguments)?;
    SubagentCall::check_agent(
        task.agent_name().unwrap_or_default(),
        &configuration,
        caller.door,
    )?;
    let asking = PreparedCaller {
        caller,
        configuration: Arc::new(configuration),
        waiting: Waiting::Nobody,
        consent: None,
    };
    let call = SubagentCall::of(task).with_budget(budget_of(&order.arguments)?);
    let mut ready = begin(&service, call, asking).await?;
    let Some(task) = ready.tasks().first().map(|opened| Arc::clone(&opened.task)) else {
        return Err(no_record(ready.warnings()));
    };
    let refusal = ready.tasks().iter().find_map(|opened| {
        let refusal = opened.work.as_ref().err()?;
        Some(refusal.message.clone())
    });
    if let (None, Some(refusal)) = (&ready.counts, &refusal) {
        // Nothing was begun.
        return Err(CommandError::failed(refusal.clone()));
    }
    if ready.opened.notes.contains(&true) {
        ready.opened.warnings.push(new_session(&task.session));
    }
    // It is read back, because a run without a readable record is not begun.
    let directory = task.directory.as_ref();
    let record = directory.and_then(|directory| RecordedRun::read(&RunDir::new(directory)).ok());
    let record = record.ok_or_else(|| no_record(ready.warnings()))?;
    let taken = TakenOver {
        row: RunRow::of_record(&record),
        counts: ready.counts.unwrap_or_default(),
        refusal,
        warnings: ready.warnings().to_vec(),
    };
    Ok((service, ready, taken))
}

fn one_task(arguments: &Value) -> Result<TaskRequest, CommandError> {
    if arguments.get("tasks").is_some_and(|tasks| !tasks.is_null()) {
        return Err(CommandError::usage(
            "a background run has one task (preset and task); start one run for each task",
        ));
    }
    Ok(SubagentCall::parse_one(arguments)?)
}

/// Refuses a background run without a record: nobody could ever read its answer.
pub(super) fn no_record(warnings: &[String]) -> CommandError {
    let why = warnings.last().map_or("", String::as_str);
    CommandError::failed(format!("a background run must be recorded: {why}")).hint(
        "Make the project or the agent directory writable, and check that the disk is not full.",
    )
}

fn read_order() -> Result<DetachedOrder, CommandError> {
    let failed = |error: &dyn std::error::Error| {
        CommandError::failed("could not read the request of the background run").because(error)
    };
    let mut line = Vec::new();
    io::stdin()
        .lock()
        .take(LONGEST_ORDER)
        .read_until(b'\n', &mut line)
        .map_err(|error| failed(&error))?;
    serde_json::from_slice(&line).map_err(|error| failed(&error))
}

/// Answers and lets go of the reader: from here on nothing ties us to the caller.
pub(super) fn answer(reply: &Reply) {
    let mut line = serde_json::to_vec(reply).unwrap_or_default();
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    // A caller who is gone finds the answer in the record.
    _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    _ = silence_stdout();
}

/// Writes down panics beside the run, because nobody reads our stderr.
pub(super) fn log_panics(file: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        if let Ok(mut log) = append_own(&file) {
            _ = writeln!(log, "{panic}");
        }
    }));
}
