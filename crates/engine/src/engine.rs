//! The handle of an owner's engine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_os::{Adoption, Kin as _, Processes as _, RunTree, System};
use pi_subagents_vocabulary::{EventSink, Interruption, Plan, RunId, RunSummary};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::warn;

use crate::dispatcher::dispatch;
use crate::launcher::Launcher;
use crate::limits::OwnerLimits;
use crate::partial_feed::{Extent, PartialReader};
use crate::request::{EngineRequest, NotRunning};
use crate::to_child::{NotSent, ToChild};

/// The time that it may take to stop the trees of all runs.
const TO_PAUSE: Duration = Duration::from_secs(1);

/// The engine of this owner. Clones share it.
///
/// # Order
///
/// Requests are handled one at a time, in the order in which they were sent. So a [`Engine::stop`]
/// after [`Engine::run`] finds the runs of that plan, although none of them has begun.
///
/// # Dropping
///
/// When the last clone is dropped, all runs are stopped as by [`Engine::stop`], and the task that
/// [`Engine::start`] returned ends when none of their processes is left. If the runtime is dropped
/// before that, nobody ends the runs here: their keepers see that the owner has let go of their
/// sockets, and end the trees.
///
/// # Panics
///
/// If the unit of a run panics, that run ends as [`Ending::Lost`](pi_subagents_vocabulary::Ending),
/// its keeper ends the tree, and the other runs go on. If a sink panics, it takes the task of the
/// engine with it: every request then returns that nothing runs.
#[derive(Clone)]
pub struct Engine {
    /// Unbounded, because every caller waits for the answer to its request.
    requests: mpsc::UnboundedSender<EngineRequest>,
}

impl Engine {
    /// Starts the engine of this process. The task ends when all handles are dropped and nothing is
    /// left running.
    ///
    /// The process adopts orphans: if a keeper is killed, the processes that it kept become ours and
    /// are ended here.
    pub fn start(launcher: Launcher, limits: OwnerLimits) -> io::Result<(Self, JoinHandle<()>)> {
        match System::adopt_orphans()? {
            Adoption::Ours => {}
            Adoption::Nobody => {
                warn!("the processes of a killed keeper are found by their marks alone");
            }
        }
        RunTree::remove_abandoned();
        let (requests, receiver) = mpsc::unbounded_channel();
        let dispatcher = tokio::spawn(dispatch(launcher, limits, receiver));
        Ok((Self { requests }, dispatcher))
    }

    /// Runs the tasks of a plan. The sinks get the events of these runs and of no others.
    ///
    /// The runs go on if what this returns is dropped; [`Engine::stop`] ends one. The sinks are
    /// dropped when all tasks are over, before the outcomes are handed out.
    pub fn run(&self, plan: Plan, sinks: Vec<Box<dyn EventSink>>) -> CallUnderWay {
        let (done, outcomes) = oneshot::channel();
        self.ask(EngineRequest::Run { plan, sinks, done });
        CallUnderWay { outcomes }
    }

    /// Has this many runs work at once from now on. Runs that have begun go on.
    pub fn set_places(&self, number: usize) {
        self.ask(EngineRequest::Places(number));
    }

    /// Stops a run and waits until nothing of it is left. The run is stopped also if the future is
    /// dropped after its first poll.
    pub async fn stop(&self, run: RunId) -> Result<Arc<RunSummary>, NotRunning> {
        let (done, outcome) = oneshot::channel();
        self.ask(EngineRequest::Stop {
            run: run.clone(),
            done,
        });
        outcome.await.unwrap_or(Err(NotRunning(run)))
    }

    /// Waits until a run is over. Giving up the wait changes nothing for the run.
    pub async fn wait(&self, run: RunId) -> Result<Arc<RunSummary>, NotRunning> {
        let (done, outcome) = oneshot::channel();
        self.ask(EngineRequest::Wait {
            run: run.clone(),
            done,
        });
        outcome.await.unwrap_or(Err(NotRunning(run)))
    }

    /// Sends something to the child of a run: a message, which it gets before its next turn, or the
    /// answer to a question. Returns when that is in the child's pipe; if the future is dropped
    /// before that, it may or may not arrive.
    pub async fn send(&self, run: RunId, what: ToChild) -> Result<(), NotSent> {
        let (answer, answered) = oneshot::channel();
        self.ask(EngineRequest::Send {
            run: run.clone(),
            what,
            answer,
        });
        answered
            .await
            .unwrap_or_else(|_| Err(NotRunning(run).into()))
    }

    /// Reads the messages that the model of a run is still writing, from now on until the run is
    /// over.
    pub async fn read_partial(
        &self,
        run: RunId,
        extent: Extent,
    ) -> Result<PartialReader, NotRunning> {
        let (answer, answered) = oneshot::channel();
        self.ask(EngineRequest::ReadPartial {
            run: run.clone(),
            extent,
            answer,
        });
        answered.await.unwrap_or(Err(NotRunning(run)))
    }

    /// Stops the trees and clocks of all runs, because this process is about to be stopped; returns
    /// when they are stopped, or after a second.
    pub async fn pause(&self) {
        // One place, because nothing is ever sent: the channel closes when all units are paused.
        let (paused, mut all) = mpsc::channel(1);
        self.ask(EngineRequest::Pause { paused });
        _ = timeout(TO_PAUSE, all.recv()).await;
    }

    /// Lets everything go on that was stopped for this long.
    pub fn resume(&self, pause: Duration) {
        self.ask(EngineRequest::Resume { pause });
    }

    /// Ends all runs because the owner must end. A second call kills them at once.
    pub fn shut_down(&self, why: Interruption) {
        self.ask(EngineRequest::Shutdown(why));
    }

    /// Sends a request to the dispatcher. The dispatcher lives as long as a handle does; if it was
    /// torn down with its runtime, nobody waits for the answer.
    fn ask(&self, request: EngineRequest) {
        _ = self.requests.send(request);
    }
}

/// A call under way. Its runs go on if this is dropped.
#[derive(Debug)]
pub struct CallUnderWay {
    outcomes: oneshot::Receiver<Vec<Arc<RunSummary>>>,
}

impl CallUnderWay {
    /// Waits until all tasks are over; their outcomes come in the order of the tasks. There are none
    /// if the engine is gone.
    pub async fn outcomes(self) -> Vec<Arc<RunSummary>> {
        self.outcomes.await.unwrap_or_default()
    }
}
