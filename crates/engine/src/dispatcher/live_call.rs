//! Calls and runs that are not over: how they are accepted, and how they are closed.

use std::sync::Arc;

use pi_subagents_vocabulary::{
    CallPlace, Decision, Ending, EventSink, FedPrompt, Happening, Plan, PlannedTask, RunId,
    RunSummary, Task, TaskPlan,
};
use tokio::sync::{mpsc, oneshot};

use super::Dispatcher;
use super::needs::CallNeeds;
use crate::clock;
use crate::head_start::HeadStart;
use crate::partial_feed::{Extent, PartialFeed, PartialReader};
use crate::request::{NotRunning, UnitRequest};

pub(super) type CallNumber = u64;

/// A call whose tasks are not all over.
pub(super) struct LiveCall {
    pub(super) sinks: Vec<Box<dyn EventSink>>,
    pub(super) outcomes: Vec<RunOutcome>,
    /// The order in which its runs may begin, if some wait for others.
    pub(super) needs: Option<CallNeeds>,
    /// The number of maps and judges whose runs are being opened.
    pub(super) openings: usize,
    done: oneshot::Sender<Vec<Arc<RunSummary>>>,
}

/// The outcome of a run, once it is over.
pub(super) struct RunOutcome {
    run: RunId,
    place: CallPlace,
    summary: Option<Arc<RunSummary>>,
}

/// A run that is not over.
pub(super) struct LiveRun {
    pub(super) call: CallNumber,
    pub(super) place: CallPlace,
    pub(super) summary: RunSummary,
    pub(super) state: RunState,
    pub(super) partial: PartialFeed,
    /// Reads for the sinks of its call, if one of them wants partial messages.
    pub(super) partial_reader: Option<PartialReader>,
    /// True while it waits for an answer and another run may have its place.
    pub(super) has_lent_its_place: bool,
    pub(super) waiters: Vec<oneshot::Sender<Result<Arc<RunSummary>, NotRunning>>>,
}

pub(super) enum RunState {
    Waiting {
        task: Arc<Task>,
        plan: Box<TaskPlan>,
        /// Its prompt, if it gets the results of other runs.
        fed: Option<FedPrompt>,
        /// Its child, if that was started before its turn.
        head_start: Option<HeadStart>,
    },
    Started(mpsc::UnboundedSender<UnitRequest>),
}

impl LiveCall {
    fn is_over(&self) -> bool {
        let is_closed = |outcome: &RunOutcome| outcome.summary.is_some();
        self.openings == 0
            && self.outcomes.iter().all(is_closed)
            && self.needs.as_ref().is_none_or(|needs| !needs.is_opening())
    }
}

impl Dispatcher {
    pub(super) fn accept(
        &mut self,
        plan: Plan,
        sinks: Vec<Box<dyn EventSink>>,
        done: oneshot::Sender<Vec<Arc<RunSummary>>>,
    ) {
        let call = self.next_call;
        self.next_call += 1;
        let needs = plan.graph.map(CallNeeds::begin);
        self.calls.insert(
            call,
            LiveCall {
                sinks,
                outcomes: Vec::new(),
                needs,
                openings: 0,
                done,
            },
        );
        self.enter_all(
            call,
            plan.tasks,
            self.shutdown.map(Decision::ending).as_ref(),
        );
    }

    /// Accepts tasks of a call. They end at once if there is an ending for them.
    pub(super) fn enter_all(
        &mut self,
        call: CallNumber,
        tasks: Vec<PlannedTask>,
        ending: Option<&Ending>,
    ) {
        let mut over = Vec::new();
        for planned in tasks {
            let run = planned.task.run.clone();
            let refusal = self.enter(call, planned);
            over.extend(ending.cloned().or(refusal).map(|ending| (run, ending)));
        }
        for (run, ending) in over {
            self.end_unbegun(&run, ending);
        }
        self.settle(call);
    }

    /// Accepts one task. Returns its ending if it is refused.
    fn enter(&mut self, call: CallNumber, planned: PlannedTask) -> Option<Ending> {
        let PlannedTask {
            task,
            work,
            place,
            fed,
            warnings,
        } = planned;
        let run = task.run.clone();
        let (state, refusal) = match work {
            Ok(plan) => {
                let task = Arc::clone(&task);
                (
                    RunState::Waiting {
                        task,
                        plan,
                        fed,
                        head_start: None,
                    },
                    None,
                )
            }
            Err(refusal) => {
                let message = refusal.message;
                (no_unit(), Some(Ending::Refused { message }))
            }
        };
        let partial = PartialFeed::new(self.partial_pace.news());
        let wants = |live: &LiveCall| live.sinks.iter().any(|sink| sink.wants_partial_messages());
        let is_shown = self.calls.get(&call).is_some_and(wants);
        self.runs.insert(
            run.clone(),
            LiveRun {
                call,
                place,
                summary: RunSummary::default(),
                state,
                partial_reader: is_shown.then(|| partial.subscribe(Extent::Newest)),
                partial,
                has_lent_its_place: false,
                waiters: Vec::new(),
            },
        );
        if let Some(live) = self.calls.get_mut(&call) {
            live.outcomes.push(RunOutcome {
                run: run.clone(),
                place,
                summary: None,
            });
        }
        let warnings = warnings.into_iter().map(Happening::Warned);
        let accepted = [Happening::Accepted(task)].into_iter().chain(warnings);
        let at = clock::now();
        self.emit_all(&run, accepted.map(|happening| (at, happening)).collect());
        if refusal.is_none() && self.may_begin(call, place.task) {
            self.scheduler.enqueue(run);
        }
        refusal
    }

    pub(super) fn close(&mut self, run: &RunId) {
        let Some(live) = self.runs.remove(run) else {
            return;
        };
        let summary = Arc::new(live.summary);
        for waiter in live.waiters {
            // The caller may have stopped waiting.
            _ = waiter.send(Ok(Arc::clone(&summary)));
        }
        let Some(call) = self.calls.get_mut(&live.call) else {
            return;
        };
        if let Some(needs) = &mut call.needs {
            needs.ended(live.place, &summary);
        }
        for outcome in &mut call.outcomes {
            if outcome.run == *run {
                outcome.summary = Some(Arc::clone(&summary));
            }
        }
    }

    pub(super) fn close_if_over(&mut self, number: CallNumber) {
        if self.calls.get(&number).is_some_and(LiveCall::is_over)
            && let Some(call) = self.calls.remove(&number)
        {
            // Sinks finish when they are dropped, and the caller goes on after that.
            drop(call.sinks);
            let mut outcomes = call.outcomes;
            // Runs of maps came later than the tasks behind them.
            outcomes.sort_by_key(|outcome| outcome.place);
            let outcomes = outcomes.into_iter().filter_map(|outcome| outcome.summary);
            // The caller may have left.
            _ = call.done.send(outcomes.collect());
        }
    }
}

/// Makes the state of a run that has no unit and never will: nobody receives its requests.
pub(super) fn no_unit() -> RunState {
    RunState::Started(mpsc::unbounded_channel().0)
}
