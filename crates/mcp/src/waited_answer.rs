//! A call that may outlast its client's patience: a detached process does it from the beginning,
//! and it is answered in time, whether it is over or not.

use pi_subagents_runs::ask_which::find_failure;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep_until, timeout};

use crate::elicitation::{ClientPerson, Seen};
use crate::shared_places::SharedPlaces;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached_process::{
    BegunRun, DetachedOrder, OrderedTool, WaitedCall, WaitedReply,
};
use pi_subagents_calls::families::runs::Answers;
use pi_subagents_calls::families::{delegation, runs, subagent};
use pi_subagents_calls::progress::OnCallProgress;
use pi_subagents_calls::questions::RunQuestion;
use pi_subagents_calls::service::{CallService, ToolAnswer};
use pi_subagents_calls::watch::Cancelled;
use pi_subagents_ground::error::CommandError;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::page_address::page_words;
use pi_subagents_vocabulary::Advice;

/// The time that a call which was stopped may take to answer with its remains.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// Returns the order for a tool whose calls may outlast the patience of a client.
pub(super) fn may_take_long(tool: &str) -> Option<OrderedTool> {
    match tool {
        delegation::DELEGATE => Some(OrderedTool::Delegate),
        subagent::SUBAGENT => Some(OrderedTool::Subagent),
        _ => None,
    }
}

/// Counts the tasks of a call, as far as its arguments show them: each needs a place among the
/// background runs. A task that is done for the items of a list counts as all of them; if they are
/// not known yet, it takes all places that a call can have.
pub(super) fn count_of_tasks(arguments: &Value) -> u32 {
    let tasks = match &arguments["tasks"] {
        Value::Array(tasks) => tasks.iter().map(count_of_runs).sum(),
        Value::String(text) => serde_json::from_str(text)
            .map_or(1, |tasks: Vec<Value>| tasks.iter().map(count_of_runs).sum()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => 1,
    };
    u32::try_from(tasks.max(1)).unwrap_or(u32::MAX)
}

/// The number of items that a list counts for while nobody knows it.
const UNKNOWN_ITEMS: usize = 16;

fn count_of_runs(task: &Value) -> usize {
    match &task["forEach"] {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::Array(items) => items.len(),
        Value::String(text) if text.trim().is_empty() => 1,
        Value::String(_) | Value::Object(_) => UNKNOWN_ITEMS,
    }
}

/// The terms on which somebody waits for a call.
pub(super) struct Waiting {
    /// The time after which it is answered at the latest.
    pub(super) patience: Duration,
    pub(super) on_progress: Option<OnCallProgress>,
    /// Becomes ready when nobody wants the answer any more; then the call is stopped.
    pub(super) cancelled: Cancelled,
    /// The places among the background runs, of which the call takes one for each task: more calls
    /// than there are places wait here, and not in separate processes.
    pub(super) room: Arc<Semaphore>,
    pub(super) wanted: u32,
    /// The client's person, if they are asked in the middle of the call.
    pub(super) person: Option<ClientPerson>,
    /// The places of its runs among those of this server.
    pub(super) places: SharedPlaces,
}

/// Has a detached process do a call, and answers when the call or the time is over.
pub(super) async fn answer_within(
    service: &Arc<CallService>,
    caller: &Caller,
    order: &DetachedOrder,
    waiting: Waiting,
) -> Result<ToolAnswer, CommandError> {
    let Waiting {
        patience,
        mut on_progress,
        mut cancelled,
        room,
        wanted,
        person,
        mut places,
    } = waiting;
    let deadline = Instant::now() + patience;
    let in_background = tokio::select! {
        // Whoever does not want to wait at all is still given the places there are.
        biased;
        taken = room.acquire_many_owned(wanted) => taken.map_err(|_| no_room(patience))?,
        () = sleep_until(deadline) => return Err(no_room(patience)),
        () = &mut cancelled => return Err(CommandError::failed("the call was cancelled before it began")),
    };
    let known_children = &service.owner.known_children;
    let mut call = WaitedCall::start(order, &caller.places, known_children).await?;
    // A call of which nothing could begin is answered at once, with the reasons.
    let has_begun = !call.runs().is_empty();
    let (to_person, mut asked) = mpsc::unbounded_channel::<Box<RunQuestion>>();
    let (put_aside, mut aside) = mpsc::unbounded_channel();
    let asking = async {
        while let Some(asked) = asked.recv().await {
            let seen = match &person {
                Some(person) => person.settle(&asked, service, caller).await,
                None => Seen::Later,
            };
            if seen == Seen::Later {
                // The call may be over.
                _ = put_aside.send(asked.question.id);
            }
        }
    };
    tokio::pin!(asking);
    loop {
        let reply = tokio::select! {
            reply = places.next_reply(&mut call) => reply?,
            // It ends with this loop.
            () = &mut asking => continue,
            Some(question) = aside.recv() => {
                call.put_aside(&question).await;
                continue;
            }
            () = sleep_until(deadline), if has_begun => break,
            () = &mut cancelled => return stop(call).await,
        };
        match reply {
            WaitedReply::Progress(progress) => {
                if let Some(on_progress) = &mut on_progress {
                    on_progress(progress);
                }
            }
            WaitedReply::Asked(asked) => {
                // The engine bounds the open questions of a run.
                _ = to_person.send(asked);
            }
            WaitedReply::Answered(answer) => return Ok(answer.into()),
        }
    }
    let begun = call.runs().to_vec();
    call.go_on().await;
    // It keeps its places until it has ended.
    tokio::spawn(async move {
        follow_to_end(&mut call, &mut places).await;
        drop(in_background);
    });
    let look =
        move |service: &CallService, caller: &Caller| goes_on(service, caller, &begun, patience);
    service.beside(caller, look).await
}

/// Follows a call that nobody waits for to its answer. Nobody sees its questions at this door.
pub(super) async fn follow_to_end(call: &mut WaitedCall, places: &mut SharedPlaces) {
    while let Ok(reply) = places.next_reply(call).await {
        match reply {
            WaitedReply::Progress(_) => {}
            WaitedReply::Asked(asked) => call.put_aside(&asked.question.id).await,
            WaitedReply::Answered(_) => return,
        }
    }
}

/// Says that so many sub-agents of the client work already that nothing could begin in time.
fn no_room(patience: Duration) -> CommandError {
    let seconds = patience.as_secs();
    CommandError::failed(format!(
        "nothing was begun: for {seconds} seconds as many of your sub-agents were running as the setting subagents.maxBackground allows"
    ))
    .advise("", Advice::MakeRoom, "")
}

/// Stops a call, and answers with its outcome.
async fn stop(mut call: WaitedCall) -> Result<ToolAnswer, CommandError> {
    let last_words = async {
        call.stop().await;
        loop {
            if let WaitedReply::Answered(answer) = call.next().await? {
                return Ok(answer.into());
            }
        }
    };
    timeout(LAST_WORDS, last_words).await.unwrap_or_else(|_| {
        Err(
            CommandError::failed("the call was asked to stop, but did not confirm it")
                .hint("subagent_runs lists the running ones."),
        )
    })
}

/// Answers a call that goes on in the background.
fn goes_on(
    service: &CallService,
    caller: &Caller,
    begun: &[BegunRun],
    patience: Duration,
) -> Result<ToolAnswer, CommandError> {
    let known = service.owner.index.runs().map_err(find_failure)?;
    let is_begun = |run: &&IndexedRun| begun.iter().any(|one| one.run == run.run.as_str());
    let runs: Vec<IndexedRun> = known.iter().filter(is_begun).cloned().collect();
    let ids: Vec<&str> = begun.iter().map(|run| &*run.run).collect();
    let wait = format!(
        "subagent_runs with action wait and ids {} waits for it and returns the answers.",
        serde_json::to_string(&ids).unwrap_or_default(),
    );
    let heading = if patience.is_zero() {
        format!(
            "Started in the background; it continues when this server ends. Nobody tells you when it ends: continue with something else, and once you need the result, {wait}"
        )
    } else {
        let seconds = patience.as_secs();
        format!(
            "Not finished after {seconds} seconds, and your client would give up soon: the work continues in the background, also when this server ends. {wait}"
        )
    };
    let page =
        page_words(&caller.places, caller.door).map(|words| format!("For the user: {words}"));
    let heading = std::iter::once(heading).chain(page).collect::<Vec<_>>();
    let mut answer = runs::answer_of(heading.join("\n"), &runs, Answers::Begun, caller.door);
    let sessions: Vec<&str> = begun.iter().map(|run| &*run.session).collect();
    answer.details["globalStatus"] = "running".into();
    answer.details["sessionIds"] = sessions.into();
    Ok(answer)
}
