//! Calls that were answered while runs of them wait for an answer. Their runs go on in this process,
//! until they are over or nobody is left for whom they could go on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::{QuestionId, RunId};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinError, JoinHandle};

use super::QuestionDesk;
use crate::answer::Answer;
use crate::call::{Call, ReadyCall};
use crate::service::CallService;
use crate::watch::{Cancelled, Watch};

/// The calls of this process that were answered while runs of them wait.
pub(crate) struct LeftCalls {
    calls: Mutex<Vec<LeftCall>>,
    /// Changes when all of them are to end.
    end: watch::Sender<()>,
}

struct LeftCall {
    desk: QuestionDesk,
    work: JoinHandle<Option<Answer>>,
}

impl Default for LeftCalls {
    fn default() -> Self {
        Self {
            calls: Mutex::default(),
            end: watch::Sender::new(()),
        }
    }
}

impl LeftCalls {
    /// Returns the desk of the call that a run belongs to, if the call was left and the run goes on.
    pub(crate) fn desk_of(&self, run: &RunId) -> Option<QuestionDesk> {
        let calls = self.lock();
        let call = calls.iter().find(|call| call.desk.has(run));
        call.map(|call| call.desk.clone())
    }

    /// Returns whether a person at the door of a call has this question before them.
    pub(crate) fn is_with_person(&self, id: &QuestionId) -> bool {
        let calls = self.lock();
        calls.iter().any(|call| call.desk.is_with_person(id))
    }

    /// Stops the runs of all of them, and returns when they are over.
    pub(crate) async fn stop(&self) {
        self.end.send_replace(());
        self.over().await;
    }

    /// Returns when all of them are over.
    pub(crate) async fn over(&self) {
        let calls = std::mem::take(&mut *self.lock());
        for call in calls {
            // A panic was printed.
            _ = call.work.await;
        }
    }

    fn keep(&self, call: LeftCall) {
        let mut calls = self.lock();
        calls.retain(|call| !call.work.is_finished());
        calls.push(call);
    }

    /// Returns the wish to end a call early: that of its caller until the call is left, and then
    /// ours.
    fn cancelled(&self, by_caller: Cancelled, desk: QuestionDesk) -> Cancelled {
        let mut end = self.end.subscribe();
        Box::pin(async move {
            let by_caller = async {
                by_caller.await;
                if desk.is_left() {
                    // The caller has its answer and is gone.
                    std::future::pending::<()>().await;
                }
            };
            let by_us = async {
                // It fails only if this process ends.
                while end.changed().await.is_ok() && !desk.is_left() {}
            };
            tokio::select! {
                () = by_caller => {}
                () = by_us => {}
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<LeftCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a call and waits for its end, or until nobody at its door can answer what is left of it.
/// Then its answer has the questions, and its runs go on. If this is dropped before, its runs are
/// stopped.
pub(crate) async fn answer_or_leave<C: Call>(
    service: &Arc<CallService>,
    ready: ReadyCall<C>,
    mut watch: Watch,
    desk: QuestionDesk,
) -> Result<Answer, CommandError> {
    watch.sinks.push(desk.sink());
    watch.cancelled = service.left.cancelled(watch.cancelled, desk.clone());
    let (early, mut answered) = oneshot::channel();
    let (of_task, at_desk) = (Arc::clone(service), desk.clone());
    let work = async move {
        ready
            .run_until_stuck(&of_task, watch, &at_desk, early)
            .await
    };
    let mut work = Unfinished(Some(tokio::spawn(work)));
    tokio::select! {
        ended = work.ended() => match ended {
            Ok(Some(answer)) => Ok(answer),
            // It was left in the moment in which it ended.
            Ok(None) => answered.try_recv().map_err(|error| defect(&error)),
            Err(error) => Err(defect(&error)),
        },
        Ok(answer) = &mut answered => {
            if let Some(work) = work.0.take() {
                service.left.keep(LeftCall { desk, work });
            }
            Ok(answer)
        }
    }
}

fn defect(error: &dyn std::error::Error) -> CommandError {
    CommandError::defect("the tool call could not be answered", error)
}

/// The work of a call, which ends when nobody waits for it any more.
struct Unfinished(Option<JoinHandle<Option<Answer>>>);

impl Unfinished {
    async fn ended(&mut self) -> Result<Option<Answer>, JoinError> {
        match &mut self.0 {
            Some(work) => work.await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(work) = &self.0 {
            work.abort();
        }
    }
}
