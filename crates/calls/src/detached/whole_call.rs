//! A call in a detached process: its runs outlive their caller, who is answered if they still wait.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pi_subagents_records::RunDir;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::order::{AnsweredCall, BegunRun, Order, ProgressReply, Reply, STOP};
use crate::begin::{PreparedCaller, begin};
use crate::detached::life::{answer, log_panics, no_record};
use crate::detached::on_end;
use crate::elsewhere::Waiting;
use crate::owner::Owner;
use crate::progress::CallProgress;
use crate::service::CallService;
use crate::watch::{Cancelled, Follow, Watch};
use crate::{Call, CallError, ReadyCall};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::Signals;

/// The time that a waiting client may take to read the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a call to its end.
pub(super) async fn live<C: Call>(order: Order, call: Result<C, CallError>, signals: &mut Signals) {
    let begun = call.map_err(CommandError::from);
    let begun = match begun {
        Ok(call) => take_over(order, call).await,
        Err(error) => Err(error),
    };
    let (service, ready) = match begun {
        Ok(begun) => begun,
        Err(error) => return answer(&Reply::Refused(error)),
    };
    let tasks = ready.tasks().iter();
    let directories: Vec<RunDir> = tasks
        .filter_map(|planned| Some(RunDir::new(planned.task.directory.as_ref()?)))
        .collect();
    let (replies, waiting) = mpsc::channel(1);
    let told = tokio::spawn(tell(waiting));
    // There is room for it: it is the first.
    _ = replies.try_send(Reply::Begun(begun_runs(&ready)));
    let progress = replies.clone();
    let on_progress = move |CallProgress {
                                finished,
                                total,
                                message,
                            }: CallProgress| {
        // While the last reply was not read, there is no use for another.
        _ = progress.try_send(Reply::Progress(ProgressReply {
            finished,
            total,
            message,
        }));
    };
    let watch = Watch {
        follow: Follow::Progress(Box::new(on_progress)),
        cancelled: stop_requested(),
        ..Watch::nobody()
    };
    let work = ready.run(&service, watch);
    let answer = service.owner.until_signalled(signals, work).await;
    let answer = answer.to_tool_answer();
    let last = Reply::Answered(AnsweredCall {
        text: answer.text,
        details: answer.details,
        is_refused: answer.is_refused,
    });
    // The caller may be gone, or stopped; the record has everything.
    let was_told = timeout(PATIENCE, async move {
        _ = replies.send(last).await;
        drop(replies);
        told.await.unwrap_or(false)
    });
    let was_told = was_told.await.unwrap_or(false);
    let known_children = service.owner.known_children.clone();
    if let Some(service) = Arc::into_inner(service) {
        service.owner.leave().await;
    }
    // Nobody waited to the end, so these were background runs. Without the places the settings are
    // not known either.
    if let (false, Ok(places)) = (was_told, Places::find()) {
        for directory in directories {
            on_end::run(&places, &directory, &known_children).await;
        }
    }
}

/// Becomes the owner of the runs: from here on their records name us.
async fn take_over<C: Call>(
    order: Order,
    call: C,
) -> Result<(Arc<CallService>, ReadyCall<C>), CommandError> {
    let places = Places::find()?;
    let detached = order.caller.detached();
    let owner = Owner::start_detached(&places, detached, order.concurrency)?;
    let service = Arc::new(CallService::of_owner(owner));
    let caller = order.caller.into_caller(places);
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let asking = PreparedCaller {
        caller,
        configuration: Arc::new(configuration),
        waiting: Waiting::Nobody,
    };
    let ready = begin(&service, call, asking).await?;
    for planned in ready.tasks().iter().filter(|task| task.work.is_ok()) {
        let directory = planned.task.directory.as_ref();
        let is_recorded = directory.is_some_and(|path| RunDir::new(path).meta().exists());
        if !is_recorded {
            return Err(no_record(ready.warnings()));
        }
    }
    if let Some(first) = ready
        .tasks()
        .first()
        .and_then(|task| task.task.directory.as_ref())
    {
        log_panics(first.join("owner.log"));
    }
    Ok((service, ready))
}

fn begun_runs<C: Call>(ready: &ReadyCall<C>) -> Vec<BegunRun> {
    let tasks = ready.tasks().iter().map(|planned| &planned.task);
    tasks
        .map(|task| BegunRun {
            name: task.name.clone(),
            run: task.run.to_string(),
            session: task.session.to_string(),
        })
        .collect()
}

/// Writes to stdout, where somebody may read; a reader that stands still holds up nothing else.
/// Returns whether somebody has read to the end.
async fn tell(mut waiting: mpsc::Receiver<Reply>) -> bool {
    let mut stdout = tokio::io::stdout();
    while let Some(reply) = waiting.recv().await {
        let mut line = serde_json::to_vec(&reply).unwrap_or_default();
        line.push(b'\n');
        if stdout.write_all(&line).await.is_err() || stdout.flush().await.is_err() {
            // Nobody reads any more. All further messages go nowhere.
            return false;
        }
    }
    true
}

/// Ends when the waiter asks for the end. If the waiter goes away without a word, the call goes on.
fn stop_requested() -> Cancelled {
    let (sender, receiver) = oneshot::channel();
    let listen = move || {
        let mut line = String::new();
        let is_read = io::stdin().read_line(&mut line).is_ok();
        if is_read && line.trim_end() == STOP {
            // The call may be over.
            _ = sender.send(());
        }
    };
    // Nobody waits for this thread; without it nobody can ask, and the runs can still be stopped.
    _ = thread::Builder::new().name("stop".to_owned()).spawn(listen);
    Box::pin(async move {
        if receiver.await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
