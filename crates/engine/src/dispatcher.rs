//! The loop that knows the state of all runs of an owner. It alone calls the sinks and answers
//! requests from outside.

mod head_starts;
mod live_call;
mod needs;

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Decision, Ending, Happening, RunEvent, RunId, RunSummary, Status, Timestamp,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinError, JoinSet};
use tracing::{debug, error, warn};

use self::live_call::{CallNumber, LiveCall, LiveRun, RunState};
use self::needs::OpenedRuns;
use crate::child::LineMemory;
use crate::clock::{self, RunClock};
use crate::launcher::Launcher;
use crate::life;
use crate::limits::OwnerLimits;
use crate::machine_room::MachineRoom;
use crate::partial_feed::PartialReader;
use crate::partial_pace::PartialPace;
use crate::request::{EngineRequest, NotRunning, UnitEvent, UnitEvents, UnitRequest};
use crate::room::{Room, children_that_fit};
use crate::scheduler::Scheduler;
use crate::to_child::{NotSent, ToChild};
use crate::unit::Unit;
use crate::warden::Warden;

/// The number of batches of events that may wait for the dispatcher; beyond that units wait, and so
/// do their children.
const EVENTS_WAITING: usize = 8;

/// Serves requests until nobody can make any more and all runs are over.
pub(crate) async fn dispatch(
    launcher: Launcher,
    limits: OwnerLimits,
    mut requests: mpsc::UnboundedReceiver<EngineRequest>,
) {
    let (events, mut happenings) = mpsc::channel(EVENTS_WAITING);
    let mut dispatcher = Dispatcher {
        machine: MachineRoom::new(launcher.meeting_place.clone(), limits.concurrency),
        launcher: Arc::new(launcher),
        memory: LineMemory::new(limits.line_memory),
        scheduler: Scheduler::new(places(limits.concurrency)),
        room: Arc::default(),
        events,
        units: JoinSet::new(),
        runs_of_units: HashMap::new(),
        calls: HashMap::new(),
        runs: HashMap::new(),
        beginning: HashSet::new(),
        openings: JoinSet::new(),
        next_call: 0,
        partial_pace: PartialPace::new(),
        shutdown: None,
        warden: None,
    };
    let mut is_reachable = true;
    while is_reachable || !dispatcher.calls.is_empty() {
        let wake = tokio::select! {
            request = requests.recv(), if is_reachable => Wake::Request(request),
            Some(events) = happenings.recv() => Wake::Events(events),
            Some(joined) = dispatcher.units.join_next_with_id() => Wake::UnitEnded(joined),
            Some(opened) = dispatcher.openings.join_next() => Wake::RunsOpened(opened),
            () = dispatcher.partial_pace.due() => Wake::PartialMessages,
        };
        match wake {
            Wake::Request(Some(request)) => dispatcher.requested(request),
            Wake::Request(None) => {
                is_reachable = false;
                dispatcher.end_all(Decision::Stop);
            }
            Wake::Events(events) => dispatcher.happened(events),
            Wake::UnitEnded(joined) => dispatcher.unit_ended(&joined),
            Wake::RunsOpened(Ok(opened)) => dispatcher.enter_opened(opened),
            // It only waits for a thread, whose panic it survives.
            Wake::RunsOpened(Err(error)) => error!(%error, "runs were not opened"),
            Wake::PartialMessages => dispatcher.send_partial_messages(),
        }
    }
    while dispatcher.units.join_next().await.is_some() {}
}

/// Returns how many of these places this system has room for.
fn places(wanted: usize) -> usize {
    wanted.min(children_that_fit().max(1))
}

enum Wake {
    Request(Option<EngineRequest>),
    Events(UnitEvents),
    UnitEnded(Result<(Id, ()), JoinError>),
    RunsOpened(Result<OpenedRuns, JoinError>),
    /// Models have written more, and it is time to show it.
    PartialMessages,
}

struct Dispatcher {
    launcher: Arc<Launcher>,
    memory: LineMemory,
    room: Arc<Room>,
    machine: Arc<MachineRoom>,
    scheduler: Scheduler<RunId>,
    events: mpsc::Sender<UnitEvents>,
    units: JoinSet<()>,
    runs_of_units: HashMap<Id, RunId>,
    calls: HashMap<CallNumber, LiveCall>,
    runs: HashMap<RunId, LiveRun>,
    /// The runs with a place whose child starts slowly and has said nothing yet.
    beginning: HashSet<RunId>,
    /// The maps and judges whose runs are being opened.
    openings: JoinSet<OpenedRuns>,
    next_call: CallNumber,
    partial_pace: PartialPace,
    /// Set once the owner must end; then nothing starts any more.
    shutdown: Option<Decision>,
    /// Started with the first child.
    warden: Option<Warden>,
}

impl Dispatcher {
    fn requested(&mut self, request: EngineRequest) {
        match request {
            EngineRequest::Run { plan, sinks, done } => self.accept(plan, sinks, done),
            EngineRequest::Stop { run, done } => {
                self.end(&run, Decision::Stop);
                self.wait(run, done);
            }
            EngineRequest::Wait { run, done } => self.wait(run, done),
            EngineRequest::Send { run, what, answer } => self.send(run, what, answer),
            EngineRequest::ReadPartial {
                run,
                extent,
                answer,
            } => {
                let live = self.runs.get(&run).ok_or(NotRunning(run));
                // The asker may have left.
                _ = answer.send(live.map(|live| live.partial.subscribe(extent)));
            }
            EngineRequest::Places(number) => {
                self.scheduler.set_limit(places(number));
                self.start_next();
            }
            EngineRequest::Pause { paused } => self.pause(&paused),
            EngineRequest::Resume { pause } => self.resume(pause),
            EngineRequest::Shutdown(why) => {
                let decision = Decision::Shutdown(why);
                self.shutdown = Some(decision);
                self.end_all(decision);
            }
        }
    }

    fn start_next(&mut self) {
        while let Some(run) = self.scheduler.next() {
            let (free, waiting) = (self.scheduler.free(), self.scheduler.waiting());
            debug!(%run, free, waiting, "run has a place");
            self.start(&run);
        }
    }

    fn start(&mut self, run: &RunId) {
        let prompt = self.fed_prompt(run);
        let Some(live) = self.runs.get_mut(run) else {
            self.scheduler.release();
            return;
        };
        if self.warden.is_none() {
            // Without a warden, the leftovers of a killed owner are ended at the next start.
            self.warden = self
                .launcher
                .known_children
                .start_with(|| Warden::start(&self.launcher.warden, &self.launcher.environment))
                .inspect_err(|error| warn!(%error, "there is no warden"))
                .ok();
        }
        let (ask, requests) = mpsc::unbounded_channel();
        if let RunState::Waiting {
            task,
            mut plan,
            head_start,
            ..
        } = mem::replace(&mut live.state, RunState::Started(ask))
        {
            if plan.here.runner.starts_slowly() {
                self.beginning.insert(run.clone());
            }
            if let Some(Ok(prompt)) = prompt {
                plan.work.prompt = prompt;
            }
            let unit = Unit {
                task,
                plan,
                head_start,
                launcher: Arc::clone(&self.launcher),
                memory: self.memory.clone(),
                room: Arc::clone(&self.room),
                machine: Arc::clone(&self.machine),
                purse: None,
                partial: live.partial.clone(),
                clock: RunClock::start(),
                events: self.events.clone(),
                unsent: Vec::new(),
                requests,
            };
            let unit = self.units.spawn(life::live(unit));
            self.runs_of_units.insert(unit.id(), run.clone());
        }
    }

    fn happened(&mut self, events: UnitEvents) {
        let UnitEvents { run, what } = events;
        let call = self.runs.get(&run).map(|live| live.call);
        let is_heard = what.iter().any(|(_, event)| event.is_of_child());
        let mut small = Vec::with_capacity(what.len());
        for (at, event) in what {
            match event {
                UnitEvent::Happened(happening) => small.push((at, happening)),
                UnitEvent::LargeRecord(line) => {
                    self.emit_all(&run, mem::take(&mut small));
                    self.emit_all(&run, vec![(at, decoded(line))]);
                }
            }
        }
        self.emit_all(&run, small);
        if call.is_some() && !self.runs.contains_key(&run) {
            self.scheduler.release();
            if let Some(call) = call {
                self.settle(call);
            }
        }
        if is_heard || !self.runs.contains_key(&run) {
            self.has_begun(&run);
        }
    }

    /// Handles the end of a unit's task. A unit sends the end of its run before; a unit that
    /// panicked did not, and its run must not stay open for ever.
    ///
    /// The last events of a unit and the end of its task reach the dispatcher by two ways, and
    /// either may come first. After an orderly end that makes no difference: this does nothing, and
    /// the end of the run is in the events. After a panic, events that are still in the channel are
    /// dropped, because the run is closed when they come. They are lost to the record; the child's
    /// own session still has its messages.
    fn unit_ended(&mut self, joined: &Result<(Id, ()), JoinError>) {
        let id = match joined {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        let Some(run) = self.runs_of_units.remove(&id) else {
            return;
        };
        if joined.is_err() {
            error!(%run, "the unit of a run panicked");
            let reason = "a fault of pi-subagents itself".to_owned();
            let lost = UnitEvent::Happened(Happening::Ended(Ending::Lost { reason }));
            let what = vec![(clock::now(), lost)];
            self.happened(UnitEvents { run, what });
        }
    }

    /// Applies an event of this moment to its run and hands it to the sinks of its call.
    fn emit(&mut self, run: &RunId, happening: Happening) {
        self.emit_all(run, vec![(clock::now(), happening)]);
    }

    /// Applies events to their run, in order, and hands them to the sinks of its call.
    fn emit_all(&mut self, run: &RunId, happenings: Vec<(Timestamp, Happening)>) {
        let Some(live) = self.runs.get_mut(run).filter(|_| !happenings.is_empty()) else {
            return;
        };
        let event = |(at, happening)| RunEvent {
            run: run.clone(),
            at,
            happening,
        };
        let events: Vec<RunEvent> = happenings.into_iter().map(event).collect();
        live.summary.apply_all(&events);
        let is_lending = live.summary.status() == Status::Waiting;
        let had_lent = std::mem::replace(&mut live.has_lent_its_place, is_lending);
        let Some(call) = self.calls.get_mut(&live.call) else {
            return;
        };
        for sink in &mut call.sinks {
            sink.on_events(&events, &live.summary);
        }
        if live.summary.ending.is_some() {
            self.close(run);
        }
        self.lend(had_lent, is_lending);
    }

    /// Gives the place of a run that waits for an answer to the next run. A run that goes on has a
    /// place at once, even if there is one run too many for a while.
    fn lend(&mut self, had_lent: bool, is_lending: bool) {
        match (had_lent, is_lending) {
            (false, true) => {
                self.scheduler.release();
                self.start_next();
            }
            (true, false) => self.scheduler.retake(),
            (true, true) | (false, false) => {}
        }
    }

    /// Sends the partial messages since the last time to the sinks of their calls.
    fn send_partial_messages(&mut self) {
        self.partial_pace.done();
        for (run, live) in &mut self.runs {
            let Some(message) = live.partial_reader.as_mut().and_then(PartialReader::news) else {
                continue;
            };
            if let Some(call) = self.calls.get_mut(&live.call) {
                for sink in &mut call.sinks {
                    sink.on_partial_message(run, &message);
                }
            }
        }
    }

    fn wait(&mut self, run: RunId, done: oneshot::Sender<Result<Arc<RunSummary>, NotRunning>>) {
        match self.runs.get_mut(&run) {
            Some(live) => live.waiters.push(done),
            // The asker may have left.
            None => _ = done.send(Err(NotRunning(run))),
        }
    }

    fn send(&mut self, run: RunId, what: ToChild, answer: oneshot::Sender<Result<(), NotSent>>) {
        let error = match self.runs.get(&run).map(|live| &live.state) {
            Some(RunState::Started(ask)) => {
                let Err(unsent) = ask.send(UnitRequest::Send { what, answer }) else {
                    return;
                };
                let UnitRequest::Send { answer, .. } = unsent.0 else {
                    return;
                };
                _ = answer.send(Err(NotSent::Ending(run)));
                return;
            }
            Some(RunState::Waiting { .. }) => NotSent::NotStarted(run),
            None => NotRunning(run).into(),
        };
        // The asker may have left.
        _ = answer.send(Err(error));
    }

    fn pause(&mut self, paused: &mpsc::Sender<()>) {
        for call in self.calls.values_mut() {
            for sink in &mut call.sinks {
                sink.on_pause();
            }
        }
        self.ask_units(|| UnitRequest::Pause {
            paused: paused.clone(),
        });
        for child in self.take_head_starts() {
            let paused = paused.clone();
            self.units.spawn(async move {
                child.end().await;
                drop(paused);
            });
        }
    }

    fn resume(&mut self, pause: Duration) {
        self.ask_units(|| UnitRequest::Resume { pause });
        for call in self.calls.values_mut() {
            for sink in &mut call.sinks {
                sink.on_resume();
            }
        }
    }

    fn ask_units(&self, request: impl Fn() -> UnitRequest) {
        for live in self.runs.values() {
            if let RunState::Started(ask) = &live.state {
                // A unit that is gone has nothing left that could be asked for.
                _ = ask.send(request());
            }
        }
    }

    fn end_all(&mut self, decision: Decision) {
        // Nothing follows from the end of a run any more.
        for call in self.calls.values_mut() {
            call.needs = None;
        }
        let runs: Vec<RunId> = self.runs.keys().cloned().collect();
        for run in runs {
            self.end(&run, decision);
        }
    }

    /// Ends a run: at once if it waits for a place, through its unit if it runs.
    fn end(&mut self, run: &RunId, decision: Decision) {
        let Some(live) = self.runs.get(run) else {
            return;
        };
        let call = live.call;
        match &live.state {
            RunState::Started(ask) => {
                // A unit that is gone has sent its end already.
                _ = ask.send(UnitRequest::End(decision));
            }
            RunState::Waiting { .. } => {
                self.end_unbegun(run, decision.ending());
                self.settle(call);
            }
        }
    }
}

fn decoded(line: Bytes) -> Happening {
    match decode(&line) {
        ChildLine::Record(record) => Happening::Said { line, record },
        ChildLine::Text => Happening::Printed(line),
    }
}
