//! Runs that wait for others: the one edge between the dispatcher and the rules of a graph. An end of
//! a run goes in, steps come out.

use std::collections::VecDeque;
use std::sync::Arc;

use pi_subagents_vocabulary::{
    CallPlace, CompletedAttempt, Decision, Ending, FedPrompt, GraphProgress, GraphStep, Happening,
    MapOpener, NeedResult, PlannedGraph, PlannedTask, RunId, RunSummary, Rung, RungStep,
    WeighedAttempts,
};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tracing::debug;

use super::Dispatcher;
use super::live_call::{CallNumber, RunState};
use crate::purse::close_unbegun;

/// The graph of a call under way.
pub(super) struct CallNeeds {
    graph: GraphProgress,
    opener: Arc<dyn MapOpener>,
    /// The steps that are still to be taken.
    steps: VecDeque<GraphStep>,
}

/// Runs of a task that were opened while their call was running.
pub(super) struct OpenedRuns {
    call: CallNumber,
    task: usize,
    runs: Vec<PlannedTask>,
    what: OpenedWhat,
}

enum OpenedWhat {
    /// A map. There is a reason if its runs never begin.
    Map(Option<String>),
    /// The judge of attempts, if there is one.
    Judge(WeighedAttempts),
}

impl CallNeeds {
    pub(super) fn begin(planned: PlannedGraph) -> Self {
        let (graph, steps) = GraphProgress::begin(planned.graph);
        Self {
            graph,
            opener: planned.opener,
            steps: steps.into(),
        }
    }

    pub(super) fn is_opening(&self) -> bool {
        self.graph.is_opening()
    }

    /// Takes in the end of a run.
    pub(super) fn ended(&mut self, place: CallPlace, run: &RunSummary) {
        let Some(report) = run.report() else { return };
        let directory = run.task.as_ref().and_then(|task| task.directory.clone());
        // A short file on this disk; most runs have none.
        let workspace = directory
            .as_deref()
            .and_then(|directory| self.opener.workspace(directory));
        let whole = directory.map(|directory| directory.join("result.json"));
        let result = NeedResult::of(&report, whole.as_deref()).with_workspace(workspace);
        self.steps
            .extend(self.graph.ended(place.task, place.item, result));
    }

    fn prompt(&self, task: usize, fed: &FedPrompt) -> Result<String, String> {
        fed.filled(&self.graph.results_for(task))
    }
}

impl Dispatcher {
    /// Returns whether the runs of a task may begin as soon as they are accepted. Where runs wait
    /// for others, a step says so.
    pub(super) fn may_begin(&self, call: CallNumber, task: usize) -> bool {
        let needs = self.calls.get(&call).and_then(|call| call.needs.as_ref());
        needs.is_none_or(|needs| needs.graph.has_begun(task))
    }

    /// Takes the steps that follow from what has ended, closes the call if it is over, and starts
    /// what may start.
    pub(super) fn settle(&mut self, call: CallNumber) {
        while let Some(step) = self.next_step(call) {
            self.take_step(call, step);
        }
        self.close_if_over(call);
        self.start_next();
    }

    fn next_step(&mut self, call: CallNumber) -> Option<GraphStep> {
        self.calls.get_mut(&call)?.needs.as_mut()?.steps.pop_front()
    }

    fn take_step(&mut self, call: CallNumber, step: GraphStep) {
        match step {
            GraphStep::Begin(task) => self.begin_task(call, task),
            GraphStep::Await(task, names) => {
                for run in self.waiting_runs(call, Some(task)) {
                    let words = format!("the results of {names}");
                    self.emit(&run, turn(RungStep::Queued, words));
                }
            }
            GraphStep::Skip(task, reason) => {
                let runs = self.waiting_runs(call, Some(task));
                self.skip(runs, &reason);
            }
            GraphStep::Close(reason) => {
                let runs = self.waiting_runs(call, None);
                self.skip(runs, &reason);
            }
            GraphStep::Open(task, items) => self.open_map(call, task, items),
            GraphStep::Weigh(task, attempts) => self.weigh(call, task, attempts),
            GraphStep::StopRest(task) => self.stop_rest(call, task),
            GraphStep::Picked(picked) => {
                let needs = self.calls.get(&call).and_then(|call| call.needs.as_ref());
                if let Some(needs) = needs {
                    needs.opener.note_picked(picked);
                }
            }
        }
    }

    /// Lets the runs of a task wait for places. A run whose prompt lacks a value never begins.
    fn begin_task(&mut self, call: CallNumber, task: usize) {
        debug!(call, task, "task may begin");
        for run in self.waiting_runs(call, Some(task)) {
            match self.fed_prompt(&run) {
                Some(Err(reason)) => self.skip(vec![run], &reason),
                Some(Ok(_)) | None => self.enqueue(run),
            }
        }
    }

    /// Lets a run wait for a place. One that has waited for results does so no more.
    fn enqueue(&mut self, run: RunId) {
        let live = self.runs.get(&run);
        if live.is_some_and(|live| live.summary.waits_for.is_some()) {
            let words = "the results that it needs are there".to_owned();
            self.emit(&run, turn(RungStep::WentOn, words));
        }
        self.scheduler.enqueue(run);
    }

    /// Returns the prompt of a waiting run with the results of other runs in it, if it gets any.
    pub(super) fn fed_prompt(&self, run: &RunId) -> Option<Result<String, String>> {
        let live = self.runs.get(run)?;
        let RunState::Waiting { fed: Some(fed), .. } = &live.state else {
            return None;
        };
        let needs = self.calls.get(&live.call)?.needs.as_ref()?;
        Some(needs.prompt(live.place.task, fed))
    }

    /// Returns the runs of a call, or of one task of it, that have no unit, in their order.
    fn waiting_runs(&self, call: CallNumber, task: Option<usize>) -> Vec<RunId> {
        let waiting = self.runs.iter().filter(|(_, live)| {
            let is_meant = task.is_none_or(|task| live.place.task == task);
            live.call == call && is_meant && matches!(live.state, RunState::Waiting { .. })
        });
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_by_key(|(_, live)| live.place);
        waiting.into_iter().map(|(run, _)| run.clone()).collect()
    }

    fn skip(&mut self, runs: Vec<RunId>, reason: &str) {
        for run in runs {
            let reason = reason.to_owned();
            self.end_unbegun(&run, Ending::NotStarted { reason });
        }
    }

    /// Ends a run that has no unit.
    pub(super) fn end_unbegun(&mut self, run: &RunId, ending: Ending) {
        if let Some(RunState::Waiting {
            plan, head_start, ..
        }) = self.runs.get_mut(run).map(|live| &mut live.state)
        {
            let budgets = plan.here.budgets.scopes.clone();
            let child = head_start.take();
            close_unbegun(self.launcher.treasurer.as_ref(), run, budgets);
            self.scheduler.withdraw(run);
            if let Some(child) = child {
                return self.end_with_head_start(run, child, ending);
            }
        }
        self.emit(run, Happening::Ended(ending));
    }

    /// Has the runs of a map opened, on a thread that may wait for the disk.
    fn open_map(&mut self, call: CallNumber, task: usize, items: Result<Vec<Value>, String>) {
        let Some(live) = self.calls.get_mut(&call) else {
            return;
        };
        let Some(needs) = &live.needs else { return };
        live.openings += 1;
        let opener = Arc::clone(&needs.opener);
        self.openings.spawn(async move {
            let reason = items.as_ref().err().cloned();
            let runs = spawn_blocking(move || opener.open(task, items.ok()));
            OpenedRuns {
                call,
                task,
                // A panic has been printed; the tasks that need the map never begin.
                runs: runs.await.unwrap_or_default(),
                what: OpenedWhat::Map(reason),
            }
        });
    }

    /// Has the attempts at a task looked at, on a thread that may wait for git and the disk.
    fn weigh(&mut self, call: CallNumber, task: usize, attempts: Vec<CompletedAttempt>) {
        let Some(live) = self.calls.get_mut(&call) else {
            return;
        };
        let Some(needs) = &live.needs else { return };
        live.openings += 1;
        let opener = Arc::clone(&needs.opener);
        self.openings.spawn(async move {
            let weighed = spawn_blocking(move || opener.weigh(task, &attempts));
            let (weighed, judge) = weighed.await.unwrap_or_else(|_| {
                let fault = "a fault of pi-subagents itself".to_owned();
                (WeighedAttempts::Nobody(fault), None)
            });
            OpenedRuns {
                call,
                task,
                runs: judge.into_iter().collect(),
                what: OpenedWhat::Judge(weighed),
            }
        });
    }

    /// Ends the attempts at a task that are not over, because one of them has completed.
    fn stop_rest(&mut self, call: CallNumber, task: usize) {
        let waiting = self.waiting_runs(call, Some(task));
        self.skip(waiting, "Another attempt was the first that completed.");
        let runs = self.runs.iter();
        let rest = runs.filter(|(_, live)| live.call == call && live.place.task == task);
        let rest: Vec<RunId> = rest.map(|(run, _)| run.clone()).collect();
        for run in rest {
            self.end(&run, Decision::Stop);
        }
    }

    /// Accepts runs that were opened while their call was running.
    pub(super) fn enter_opened(&mut self, opened: OpenedRuns) {
        let OpenedRuns {
            call,
            task,
            runs,
            what,
        } = opened;
        let Some(live) = self.calls.get_mut(&call) else {
            return;
        };
        live.openings -= 1;
        let ending = match &mut live.needs {
            Some(needs) => {
                let (steps, reason) = match what {
                    OpenedWhat::Map(reason) => (needs.graph.opened(task, runs.len()), reason),
                    OpenedWhat::Judge(weighed) => (needs.graph.weighed(task, weighed), None),
                };
                needs.steps.extend(steps);
                reason.map(|reason| Ending::NotStarted { reason })
            }
            None => Some(Ending::Stopped),
        };
        let shutdown = self.shutdown.map(Decision::ending);
        self.enter_all(call, runs, shutdown.or(ending).as_ref());
    }
}

/// Returns the event of a run that waits for others, or does so no more.
fn turn(step: RungStep, words: String) -> Happening {
    Happening::Rung(Rung { step, words })
}
