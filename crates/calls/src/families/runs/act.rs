//! Carries out the actions of `subagent_runs`.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text::one_line;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::client_runs::{Answers, answer_of, counts, meant, of_caller, with_others};
use super::tools::RunsCall;
use crate::arguments;
use crate::caller::Caller;
use crate::families::answers::{GivenAnswer, answer_with};
use crate::families::delegation;
use crate::questions::{Awaited, until_needed};
use crate::service::{CallService, ToolAnswer};
use crate::shared_room::{self, ROOM, shares};
use crate::watch::Cancelled;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts::{self, Addressee, Reach, Wait, Waited};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::upkeep::tend_records;
use pi_subagents_vocabulary::Door;

/// The time for which we wait for runs by default. Every known client waits longer for an answer.
const USUAL_WAIT: f64 = 45.0;

/// The longest time for which we wait for runs.
const LONGEST_WAIT: f64 = 3600.0;

/// Lists runs, waits for them, stops or steers them.
pub(crate) async fn subagent_runs(
    service: &Arc<CallService>,
    arguments: &Value,
    caller: &Caller,
    cancelled: Cancelled,
) -> Result<ToolAnswer, CommandError> {
    let call: RunsCall = arguments::read(arguments)?;
    let with_all = call.all;
    let begin = move |service: &CallService, caller: &Caller| {
        tend_records(&service.owner.index, &caller.places);
        if with_all {
            with_others(service, caller)
        } else {
            of_caller(service, caller)
        }
    };
    let runs = service.beside(caller, begin).await?;
    match call.action.as_deref().map(str::trim) {
        None | Some("" | "list") => Ok(list(&call, runs, caller.door)),
        Some(action @ ("output" | "session")) => {
            let meant = meant(&runs, named(&call.ids, action)?)?;
            let tool = match action {
                "output" => delegation::output,
                _ => delegation::session,
            };
            let read = move |service: &CallService, caller: &Caller| {
                read_sessions(service, caller, &meant, tool, &call)
            };
            service.beside(caller, read).await
        }
        Some("wait") => {
            let asked = if call.ids.is_empty() {
                runs.into_iter().filter(IndexedRun::is_open).collect()
            } else {
                meant(&runs, &call.ids)?
            };
            let awaited = Awaited {
                runs: &asked,
                answered: None,
            };
            let notes = tokio::select! {
                biased;
                notes = wait(caller, &asked, limit(call.seconds), cancelled) => notes,
                // Whoever waits for them is the one who can answer.
                needed = until_needed(service, caller, awaited) => needed.map(|()| Vec::new())?,
            };
            let asked = again(service, caller, asked).await?;
            let heading = std::iter::once(waited(&asked)).chain(notes);
            let heading = heading.collect::<Vec<_>>().join("\n");
            Ok(answer_of(heading, &asked, Answers::Shared, caller.door))
        }
        Some("stop") => {
            let mut asked = meant(&runs, named(&call.ids, "stop")?)?;
            asked.retain(IndexedRun::is_open);
            let mut notes = Vec::new();
            let mut stopped = Vec::new();
            for (run, outcome) in acts::stop_all(&service.owner.reach(&caller.places), asked).await
            {
                match outcome {
                    Ok(ended) => {
                        notes.extend(ended.note());
                        stopped.push(ended.run.unwrap_or(run));
                    }
                    Err(problem) => {
                        notes.push(problem.lines(caller.door));
                        stopped.push(run);
                    }
                }
            }
            let heading = stopped_heading(&stopped, &notes);
            Ok(answer_of(heading, &stopped, Answers::Begun, caller.door))
        }
        Some("steer") => steer(&service.owner.reach(&caller.places), &call, &runs).await,
        Some("answer") => answer(service, &call, caller, cancelled).await,
        Some(other) => Err(CommandError::usage(format!(
            "action is {}, not \"{}\"",
            match caller.door {
                Door::Mcp => "list, wait, output, session, stop, steer or answer",
                Door::CommandLine | Door::Pi | Door::PiCommand | Door::Attach | Door::Page => {
                    "list, wait, stop or steer"
                }
            },
            one_line(other)
        ))),
    }
}

/// A tool that reads a session by its id.
type ReadTool = fn(&CallService, &Value, &Caller) -> Result<ToolAnswer, CommandError>;

/// Reads the sessions of some runs, each as far as there is room for it.
fn read_sessions(
    service: &CallService,
    caller: &Caller,
    runs: &[IndexedRun],
    tool: ReadTool,
    call: &RunsCall,
) -> Result<ToolAnswer, CommandError> {
    let read = runs.iter().map(|run| {
        let session = json!({"sessionId": run.run.as_str()});
        tool(service, &session, caller)
    });
    let read: Vec<ToolAnswer> = read.collect::<Result<_, _>>()?;
    let offset = call.offset.unwrap_or_default();
    if let [only] = read.as_slice() {
        let limit = call.limit.unwrap_or(ROOM);
        let text = shared_room::page(&only.text, offset, limit);
        return Ok(ToolAnswer::new(text, only.details.clone()));
    }
    let lengths: Vec<usize> = read.iter().map(|one| one.text.chars().count()).collect();
    let shares = shares(&lengths, call.limit.unwrap_or(ROOM));
    let parts = runs.iter().zip(&read).zip(shares);
    let parts = parts.map(|((run, one), share)| {
        let text = shared_room::page(&one.text, offset, share);
        format!(
            "## {} (session: {})\n\n{text}",
            one_line(&run.name),
            run.session
        )
    });
    let text = parts.collect::<Vec<_>>().join("\n\n");
    let details: Vec<Value> = read.into_iter().map(|one| one.details).collect();
    Ok(ToolAnswer::new(text, json!({ "sessions": details })))
}

fn list(call: &RunsCall, mut runs: Vec<IndexedRun>, door: Door) -> ToolAnswer {
    let line = counts(&runs).line();
    runs.retain(|run| call.include_completed || run.is_open());
    let heading = match (runs.is_empty(), call.include_completed) {
        (false, _) if call.all => format!("All sub-agents of this project: {line}."),
        (false, _) => format!("Your sub-agents: {line}."),
        (true, false) => {
            format!("None is running ({line}). includeCompleted lists finished runs.")
        }
        (true, true) => "You have started none.".to_owned(),
    };
    answer_of(heading, &runs, Answers::Begun, door)
}

fn limit(seconds: Option<f64>) -> Duration {
    let seconds = seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT);
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Waits until all are over, until the limit has passed, or until nobody waits for the answer any
/// longer. Returns notes for the caller.
async fn wait(
    caller: &Caller,
    runs: &[IndexedRun],
    limit: Duration,
    mut cancelled: Cancelled,
) -> Vec<String> {
    let end = Instant::now() + limit;
    let open = runs.iter().filter(|run| run.is_open()).cloned();
    let mut waiting = Wait::begin(&caller.places, &open.collect::<Vec<_>>());
    let mut notes = Vec::new();
    // A run that is not over by then, or whose end was not seen, is listed with its state.
    loop {
        let waited = tokio::select! {
            () = &mut cancelled => return notes,
            waited = timeout_at(end, waiting.next()) => waited,
        };
        match waited {
            Ok(Some(Waited::Note(note))) => notes.push(note.words(caller.door)),
            Ok(Some(Waited::Over(_) | Waited::Unseen(_))) => {}
            Ok(None) | Err(_) => return notes,
        }
    }
}

/// Returns the same runs as they are now.
async fn again(
    service: &Arc<CallService>,
    caller: &Caller,
    asked: Vec<IndexedRun>,
) -> Result<Vec<IndexedRun>, CommandError> {
    let look = move |service: &CallService, _: &Caller| {
        service.owner.index.again(&asked).map_err(find_failure)
    };
    service.beside(caller, look).await
}

fn waited(runs: &[IndexedRun]) -> String {
    let open = runs.iter().filter(|run| run.is_open()).count();
    match (runs.len(), open) {
        (0, _) => "None is running.".to_owned(),
        (_, 0) => format!("All have finished: {}.", counts(runs).line()),
        (all, open) => format!(
            "{open} of {all} are still running. Call again to wait for them, or do something else meanwhile."
        ),
    }
}

fn stopped_heading(runs: &[IndexedRun], notes: &[String]) -> String {
    let line = match runs {
        [] => "None of them was running.".to_owned(),
        runs => format!("Stopped; now they are: {}.", counts(runs).line()),
    };
    let notes = notes.iter().map(|note| format!("! {note}"));
    std::iter::once(line)
        .chain(notes)
        .collect::<Vec<_>>()
        .join("\n")
}

async fn steer(
    reach: &Reach,
    call: &RunsCall,
    runs: &[IndexedRun],
) -> Result<ToolAnswer, CommandError> {
    let message = call.message.as_deref().unwrap_or_default().trim();
    if message.is_empty() {
        return Err(CommandError::usage(
            "message is missing: say what the sub-agent should read",
        ));
    }
    let mut asked = meant(runs, named(&call.ids, "steer")?)?;
    asked.retain(IndexedRun::is_open);
    let [run] = asked.as_slice() else {
        return Err(CommandError::failed(format!(
            "steer takes one running sub-agent; these ids stand for {}",
            asked.len()
        ))
        .hint("subagent_runs lists the running ones. delegate_to_subagents with resume continues a finished run."));
    };
    let to = Addressee::from(run.clone());
    let steered = acts::steer(reach, &to, message.to_owned()).await?;
    let details = json!({"runId": steered.run.as_str(), "steered": true});
    Ok(ToolAnswer::new(steered.sentence(), details))
}

/// Answers a question of a run, and waits for the run as long as somebody waits for a run.
async fn answer(
    service: &Arc<CallService>,
    call: &RunsCall,
    caller: &Caller,
    cancelled: Cancelled,
) -> Result<ToolAnswer, CommandError> {
    let [question] = call.ids.as_slice() else {
        return Err(CommandError::usage(
            "ids must be the id of one question, such as [\"q7f3a\"], for answer",
        ));
    };
    let answer = call.message.as_deref().unwrap_or_default().trim();
    if answer.is_empty() {
        return Err(CommandError::usage(
            "message is missing: it is the answer to the question",
        ));
    }
    let given = GivenAnswer { question, answer };
    answer_with(service, caller, given, limit(call.seconds), cancelled).await
}

fn named<'a>(ids: &'a [String], action: &str) -> Result<&'a [String], CommandError> {
    if ids.is_empty() {
        return Err(CommandError::usage(format!(
            "ids is missing: name the runs for {action}"
        )));
    }
    Ok(ids)
}
