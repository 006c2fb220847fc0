//! A call that may outlast its client's patience: a detached process does it from the beginning,
//! and it is answered in time, whether it is over or not.

use pi_subagents_runs::ask_which::find_failure;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached::{BegunRun, Order, OrderedTool, WaitedCall, WaitedReply};
use pi_subagents_calls::families::{delegation, runs, subagent};
use pi_subagents_calls::progress::OnCallProgress;
use pi_subagents_calls::service::{CallService, ToolAnswer};
use pi_subagents_calls::watch::Cancelled;
use pi_subagents_ground::error::CommandError;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::page_address::page_words;

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

/// The terms on which somebody waits for a call.
pub(super) struct Waiting {
    /// The time after which it is answered at the latest.
    pub(super) patience: Duration,
    pub(super) on_progress: Option<OnCallProgress>,
    /// Becomes ready when nobody wants the answer any more; then the call is stopped.
    pub(super) cancelled: Cancelled,
}

/// Has a detached process do a call, and answers when the call or the time is over.
pub(super) async fn answer_within(
    service: &Arc<CallService>,
    caller: &Caller,
    order: &Order,
    waiting: Waiting,
) -> Result<ToolAnswer, CommandError> {
    let Waiting {
        patience,
        mut on_progress,
        mut cancelled,
    } = waiting;
    let deadline = Instant::now() + patience;
    let known_children = &service.owner.known_children;
    let mut call = WaitedCall::start(order, &caller.places, known_children).await?;
    loop {
        let heard = tokio::select! {
            heard = call.next() => heard?,
            () = sleep_until(deadline) => break,
            () = &mut cancelled => return stop(call).await,
        };
        match heard {
            WaitedReply::Progress(progress) => {
                if let Some(on_progress) = &mut on_progress {
                    on_progress(progress);
                }
            }
            WaitedReply::Answered(answer) => return Ok(answer.into()),
        }
    }
    let begun = call.runs().to_vec();
    drop(call);
    let look =
        move |service: &CallService, caller: &Caller| goes_on(service, caller, &begun, patience);
    service.beside(caller, look).await
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
                .hint("subagent_runs lists what is still at work."),
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
    let heading = format!(
        "Not over after {} seconds, so that your client does not give up: the work goes on in the background, also when this server ends. To wait for it call subagent_runs with action wait and ids {}; get_subagent_output reads what a session has answered.",
        patience.as_secs(),
        serde_json::to_string(&ids).unwrap_or_default(),
    );
    let page =
        page_words(&caller.places, caller.door).map(|words| format!("For the user: {words}"));
    let heading = std::iter::once(heading).chain(page).collect::<Vec<_>>();
    let mut answer = runs::answer_of(heading.join("\n"), &runs);
    let sessions: Vec<&str> = begun.iter().map(|run| &*run.session).collect();
    answer.details["globalStatus"] = "running".into();
    answer.details["sessionIds"] = sessions.into();
    Ok(answer)
}
