//! The handle of an owner's engine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_delegation::{EventSink, Interruption, Plan, Program, RunId, RunSummary, Secret};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::child::Spoken;
use crate::control_group::remove_abandoned_groups;
use crate::dispatcher::dispatch;
use crate::own_children::OwnChildren;
use crate::owner::Extent;
use crate::request::{EngineRequest, NotRunning, SteerError};

/// How long the trees of all runs may take to be stopped.
const TO_PAUSE: Duration = Duration::from_secs(1);

/// How children are started, whatever their plan says.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program that keeps a child: our own binary and its hidden subcommand.
    pub keeper: Program,
    /// The program that ends what the keepers of a dead owner could not.
    pub warden: Program,
    /// Whether this process has other children beside ours.
    pub own_children: OwnChildren,
    /// How many files children may have open, if this process may have more.
    pub file_limit: Option<u64>,
    /// What children find in their environment beside what this process has.
    pub environment: Vec<(OsString, OsString)>,
    /// The variables of this process that hold secrets. The embedded agent gets them on a
    /// descriptor, so that they stand in the environment of no process below the owner. Another
    /// program finds them where it expects them.
    pub secrets: BTreeMap<String, Secret>,
}

/// What bounds all runs of an owner together.
#[derive(Debug, Clone, Copy)]
pub struct OwnerLimits {
    /// How many children may run at once.
    pub concurrency: usize,
    /// How many bytes of the children's lines may be in memory at once.
    pub line_memory: usize,
}

impl Default for OwnerLimits {
    fn default() -> Self {
        Self {
            concurrency: 4,
            line_memory: 24 << 20,
        }
    }
}

/// The engine of this owner. Clones share it; when the last one is dropped, all runs are stopped.
#[derive(Clone)]
pub struct Engine {
    /// Unbounded: each request is one of a caller who then waits for its answer.
    requests: mpsc::UnboundedSender<EngineRequest>,
}

impl Engine {
    /// Starts the engine of this process. The task ends when all handles are dropped and nothing
    /// is left running.
    ///
    /// The process becomes a subreaper: if a keeper is killed, what it kept becomes ours and is
    /// ended here.
    pub fn start(launcher: Launcher, limits: OwnerLimits) -> io::Result<(Self, JoinHandle<()>)> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        remove_abandoned_groups();
        let (requests, receiver) = mpsc::unbounded_channel();
        let dispatcher = tokio::spawn(dispatch(launcher, limits, receiver));
        Ok((Self { requests }, dispatcher))
    }

    /// Runs the tasks of a plan; the sinks hear of nothing else.
    pub fn run(&self, plan: Plan, sinks: Vec<Box<dyn EventSink>>) -> Call {
        let (done, outcomes) = oneshot::channel();
        self.ask(EngineRequest::Run { plan, sinks, done });
        Call { outcomes }
    }

    /// Stops a run and waits until nothing of it is left.
    pub async fn stop(&self, run: RunId) -> Result<Arc<RunSummary>, NotRunning> {
        let (done, outcome) = oneshot::channel();
        self.ask(EngineRequest::Stop {
            run: run.clone(),
            done,
        });
        outcome.await.unwrap_or(Err(NotRunning(run)))
    }

    /// Waits until a run is over.
    pub async fn wait(&self, run: RunId) -> Result<Arc<RunSummary>, NotRunning> {
        let (done, outcome) = oneshot::channel();
        self.ask(EngineRequest::Wait {
            run: run.clone(),
            done,
        });
        outcome.await.unwrap_or(Err(NotRunning(run)))
    }

    /// Says something to the child of a run, which hears it before its next turn.
    pub async fn steer(&self, run: RunId, message: String) -> Result<(), SteerError> {
        let (answer, answered) = oneshot::channel();
        self.ask(EngineRequest::Steer {
            run: run.clone(),
            message,
            answer,
        });
        answered
            .await
            .unwrap_or_else(|_| Err(NotRunning(run).into()))
    }

    /// Listens to the model of a run from now on, until the run is over.
    pub async fn listen(
        &self,
        run: RunId,
        extent: Extent,
    ) -> Result<watch::Receiver<Spoken>, NotRunning> {
        let (answer, answered) = oneshot::channel();
        self.ask(EngineRequest::Listen {
            run: run.clone(),
            extent,
            answer,
        });
        answered.await.unwrap_or(Err(NotRunning(run)))
    }

    /// Stops the trees and clocks of all runs, because this process is about to be stopped; returns
    /// when they are stopped, or after a second.
    pub async fn pause(&self) {
        // One place, because nothing is ever sent: the last sender that is dropped tells.
        let (paused, mut all) = mpsc::channel(1);
        self.ask(EngineRequest::Pause { paused });
        _ = timeout(TO_PAUSE, all.recv()).await;
    }

    /// Lets everything go on that was stopped for this long.
    pub fn resume(&self, pause: Duration) {
        self.ask(EngineRequest::Resume { pause });
    }

    /// Ends all runs because the owner must; called again, at once.
    pub fn shut_down(&self, why: Interruption) {
        self.ask(EngineRequest::Shutdown(why));
    }

    /// The dispatcher lives as long as a handle does; if it was torn down with its runtime,
    /// nobody is left to be answered.
    fn ask(&self, request: EngineRequest) {
        _ = self.requests.send(request);
    }
}

/// A call under way.
#[derive(Debug)]
pub struct Call {
    outcomes: oneshot::Receiver<Vec<Arc<RunSummary>>>,
}

impl Call {
    /// Waits until all tasks are over; their outcomes come in the order of the tasks.
    pub async fn outcomes(self) -> Vec<Arc<RunSummary>> {
        self.outcomes.await.unwrap_or_default()
    }
}
