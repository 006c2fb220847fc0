//! A call in a detached process: its runs outlive their caller, who is answered if they still wait.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::QuestionId;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::call_record::{CallNews, CallRecord};
use super::order::{
    AnsweredCall, BegunRun, DetachedOrder, GO_ON, LATER, PLACES, ProgressReply, Reply,
};
use crate::begin::{PreparedCaller, begin};
use crate::detached_process::life::{answer, log_panics, no_record};
use crate::detached_process::on_end;
use crate::elsewhere::Waiting;
use crate::owner::Owner;
use crate::progress::CallProgress;
use crate::questions::QuestionDesk;
use crate::service::CallService;
use crate::watch::{Cancelled, Follow, Watch};
use crate::{Call, CallError, ReadyCall};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::Signals;

/// The time that a waiting client may take to read the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shortest pause between two notes in the record of a call.
const NOTE_PACE: Duration = Duration::from_millis(500);

/// Runs a call to its end.
pub(super) async fn live<C: Call>(
    mut order: DetachedOrder,
    places: Places,
    call: Result<C, CallError>,
    signals: &mut Signals,
) {
    let record = order.record.take();
    let mut record = record.and_then(|id| CallRecord::read(&places.agent_dir, &id));
    let notes = std::mem::take(&mut order.notes);
    let concurrency = order.concurrency;
    let door = order.caller.door;
    let desk = QuestionDesk::of_answerers(order.caller.answerers);
    let begun = match call.map_err(CommandError::from) {
        Ok(call) => take_over(order, &places, call).await,
        Err(error) => Err(error),
    };
    let (service, ready) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            if let Some(record) = &mut record {
                // Without the record nobody can ask for the answer either.
                _ = record.end(AnsweredCall::refused(error.to_answer(door)));
            }
            return answer(&Reply::Refused(error));
        }
    };
    let tasks = ready.tasks().iter();
    let directories: Vec<RunDir> = tasks
        .filter_map(|planned| Some(RunDir::new(planned.task.directory.as_ref()?)))
        .collect();
    let runs = begun_runs(&ready);
    if let Some(record) = &mut record {
        // The runs go on, and their own records have everything.
        _ = record.take_over(runs.clone());
    }
    let is_released = Arc::new(AtomicBool::new(record.is_some()));
    let (places_given, mut places_changed) = watch::channel(0);
    let words = CallerWords {
        is_released: Arc::clone(&is_released),
        places: places_given,
        all_places: concurrency,
        desk: desk.clone(),
    };
    let stop_requested = words.listen();
    let cancelled: Cancelled = match &record {
        Some(record) if record.is_cancelled() => Box::pin(std::future::ready(())),
        // Whoever wants it to end stops its runs.
        Some(_) => Box::pin(std::future::pending()),
        None => stop_requested,
    };
    let (replies, waiting) = mpsc::channel(1);
    let told = tokio::spawn(write_replies(waiting));
    // There is room for it: it is the first.
    _ = replies.try_send(Reply::Begun(runs));
    let progress = replies.clone();
    let (newest, notes_to_keep) = watch::channel(CallNews::default());
    let asking = desk.clone().map(|desk| {
        let passing = pass_on(desk, newest.clone(), replies.clone());
        tokio::spawn(passing)
    });
    let noting = record
        .clone()
        .map(|record| tokio::spawn(keep_notes(record, notes_to_keep)));
    let on_progress = move |CallProgress {
                                finished,
                                total,
                                message,
                            }: CallProgress| {
        newest.send_modify(|news| news.message = Some(message.clone()));
        // While the last reply was not read, there is no use for another.
        _ = progress.try_send(Reply::Progress(ProgressReply {
            finished,
            total,
            message,
        }));
    };
    let watch = Watch {
        follow: Follow::Progress(Box::new(on_progress)),
        desk,
        cancelled,
        ..Watch::nobody()
    };
    let work = service.wait(ready, watch);
    let work = service.owner.until_signalled(signals, work);
    let take_places = async {
        while places_changed.changed().await.is_ok() {
            service
                .owner
                .set_places(*places_changed.borrow_and_update());
        }
        std::future::pending::<Infallible>().await
    };
    let mut take_places = Box::pin(take_places);
    let answer = tokio::select! {
        answer = work => answer,
        never = &mut take_places => match never {},
    };
    let answer = match answer {
        Ok(answer) => answer.to_tool_answer(),
        Err(error) => AnsweredCall::refused(error.to_answer(door)).into(),
    };
    let notes = notes.iter().map(|note| format!("\n\n! {note}"));
    let answer = AnsweredCall {
        text: answer.text + &notes.collect::<String>(),
        details: answer.details,
        is_refused: answer.is_refused,
    };
    for telling in asking.into_iter().chain(noting) {
        // No note comes after the answer.
        telling.abort();
        _ = telling.await;
    }
    if let Some(record) = &mut record {
        _ = record.end(answer.clone());
    }
    // The caller may be gone, or stopped; the record has everything.
    let was_told = timeout(PATIENCE, async move {
        _ = replies.send(Reply::Answered(answer)).await;
        drop(replies);
        told.await.unwrap_or(false)
    });
    let was_told = was_told.await.unwrap_or(false)
        && (record.is_some() || !is_released.load(Ordering::Relaxed));
    // Runs that wait for an answer go on, with all places for themselves.
    is_released.store(true, Ordering::Relaxed);
    let left = service.owner.until_signalled(signals, service.left.over());
    tokio::select! {
        () = left => {}
        never = &mut take_places => match never {},
    }
    drop(take_places);
    let known_children = service.owner.known_children.clone();
    if let Some(service) = Arc::into_inner(service) {
        service.owner.leave().await;
    }
    // Nobody waited to the end, so these were background runs.
    if !was_told {
        for directory in directories {
            on_end::run(&places, &directory, &known_children).await;
        }
    }
}

/// Keeps the news in the record of a call, until nobody has newer ones.
async fn keep_notes(mut record: CallRecord, mut notes: watch::Receiver<CallNews>) {
    while notes.changed().await.is_ok() {
        let news = notes.borrow_and_update().clone();
        // Each run has its own record.
        _ = record.is_at(news);
        sleep(NOTE_PACE).await;
    }
}

/// Passes questions on to the person at the door: to the process that waits for the call, and to
/// the record of the call.
async fn pass_on(desk: QuestionDesk, news: watch::Sender<CallNews>, replies: mpsc::Sender<Reply>) {
    let mut changes = desk.changes();
    loop {
        let next = tokio::select! {
            next = desk.next() => Some(next),
            () = changes.next() => None,
        };
        news.send_if_modified(|news| {
            let questions = desk.of_person();
            let is_new = news.questions != questions;
            news.questions = questions;
            is_new
        });
        if let Some(asked) = next {
            // Without a reader the questions are in the inbox.
            _ = replies.send(Reply::Asked(Box::new(asked))).await;
        }
    }
}

/// Becomes the owner of the runs: from here on their records name us.
async fn take_over<C: Call>(
    order: DetachedOrder,
    places: &Places,
    call: C,
) -> Result<(Arc<CallService>, ReadyCall<C>), CommandError> {
    let detached = order.caller.detached();
    let places_at_first = if order.is_given_places {
        0
    } else {
        order.concurrency
    };
    let owner = Owner::start_detached(places, detached, places_at_first)?;
    let service = Arc::new(CallService::of_owner(owner));
    let caller = order.caller.into_caller(order.tool, places.clone());
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let asking = PreparedCaller {
        caller,
        configuration: Arc::new(configuration),
        waiting: Waiting::Nobody,
        consent: None,
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
    let begun = ready.tasks().iter().filter(|planned| planned.work.is_ok());
    begun
        .map(|planned| &planned.task)
        .map(|task| BegunRun {
            name: task.name.clone(),
            run: task.run.to_string(),
            session: task.session.to_string(),
        })
        .collect()
}

/// Writes to stdout, where somebody may read; a reader that stands still holds up nothing else.
/// Returns whether somebody has read to the end.
async fn write_replies(mut waiting: mpsc::Receiver<Reply>) -> bool {
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

/// The words of the caller, which come on stdin.
struct CallerWords {
    /// True once the call goes on without its caller.
    is_released: Arc<AtomicBool>,
    places: watch::Sender<usize>,
    /// The number of places if the caller is gone.
    all_places: usize,
    desk: Option<QuestionDesk>,
}

impl CallerWords {
    /// Listens to the caller: it gives places, leaves questions to others, lets the call go on
    /// without it, or wants it to end. The returned future is ready when it wants that, or is gone
    /// without having let the call go on. A call whose caller is gone has all its places to itself.
    fn listen(self) -> Cancelled {
        let (sender, receiver) = oneshot::channel();
        let listen = move || {
            for line in io::stdin().lines().map_while(Result::ok) {
                if self.is_wish_to_end(&line) {
                    // The call may be over.
                    _ = sender.send(());
                    return;
                }
            }
            if self.is_released.load(Ordering::Relaxed) {
                self.places.send_replace(self.all_places);
            } else {
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

    /// Takes a line. Returns whether the caller wants the call to end.
    fn is_wish_to_end(&self, line: &str) -> bool {
        if let Some(number) = line.strip_prefix(PLACES) {
            if let Ok(number) = number.parse() {
                self.places.send_replace(number);
            }
        } else if let Some(id) = line.strip_prefix(LATER) {
            if let (Some(desk), Some(id)) = (&self.desk, QuestionId::parse(id)) {
                desk.put_aside(&id);
            }
        } else if line == GO_ON {
            self.is_released.store(true, Ordering::Relaxed);
        } else {
            return true;
        }
        false
    }
}
