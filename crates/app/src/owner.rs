//! This process as an owner of runs: engine, record, socket and signals together.

use std::io;
use std::sync::Arc;

use pi_subagents_delegation::{EventSink, Plan, Program, RunSummary};
use pi_subagents_engine::{Engine, Launcher, OwnerLimits, OwnerSocket, ProcessName, end_leftovers};
use pi_subagents_sessions::{OwnerName, Recorder, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::commands::keeper;
use crate::error::CommandError;
use crate::places::Places;

/// This process, ready to own runs.
pub(crate) struct Owner {
    pub(crate) name: OwnerName,
    pub(crate) store: Store,
    pub(crate) recorder: Recorder,
    engine: Engine,
    dispatcher: JoinHandle<()>,
    _socket: Option<OwnerSocket>,
    signals: Signals,
}

impl Owner {
    /// Starts the engine, the record and the socket. Runs whose owner is gone are closed first.
    pub(crate) fn start(places: &Places, concurrency: usize) -> Result<Self, CommandError> {
        let failed = |what: &str, error: &io::Error| CommandError::failed(what).because(error);
        raise_file_limit();
        let store = Store::new(&places.agent_dir);
        close_abandoned(&store);
        let launcher = Launcher {
            keeper: Program {
                path: places.program.clone(),
                arguments: vec![keeper::NAME.into()],
            },
        };
        let limits = OwnerLimits {
            concurrency,
            ..OwnerLimits::default()
        };
        let signals = Signals::listen().map_err(|error| failed("no signals", &error))?;
        let (engine, dispatcher) = Engine::start(launcher, limits)
            .map_err(|error| failed("the engine did not start", &error))?;
        let recorder = Recorder::start(store.index());
        let record = recorder.clone();
        // Without a socket the runs go on; only other processes cannot reach them.
        let socket =
            OwnerSocket::listen(&places.sockets, engine.clone(), move || record.settle()).ok();
        let process = ProcessName::of_this_process();
        Ok(Self {
            name: OwnerName {
                pid: process.pid,
                start_time: process.start_time,
                host: this_host(),
                socket: socket.as_ref().map(|socket| socket.path().to_owned()),
            },
            recorder,
            store,
            engine,
            dispatcher,
            _socket: socket,
            signals,
        })
    }

    /// Runs a plan to its end; a signal ends its runs, a second one at once.
    pub(crate) async fn run(
        &mut self,
        plan: Plan,
        mut sinks: Vec<Box<dyn EventSink>>,
    ) -> Vec<Arc<RunSummary>> {
        sinks.push(Box::new(self.recorder.clone()));
        let outcomes = self.engine.run(plan, sinks).outcomes();
        tokio::pin!(outcomes);
        let outcomes = loop {
            tokio::select! {
                outcomes = &mut outcomes => break outcomes,
                number = self.signals.next() => self.engine.shut_down(number),
            }
        };
        self.recorder.settle();
        outcomes
    }

    /// Ends this owner in order: nothing of it is left when this returns.
    pub(crate) async fn leave(self) {
        let Self {
            engine,
            dispatcher,
            _socket: socket,
            ..
        } = self;
        drop((engine, socket));
        // The dispatcher ends by itself once its last handle is gone; a panic has been printed.
        _ = dispatcher.await;
    }
}

/// Closes the runs whose owner is gone, and ends what is left of them.
pub(crate) fn close_abandoned(store: &Store) {
    let Ok(runs) = store.runs() else {
        return;
    };
    for run in runs.iter().filter(|run| run.is_open()) {
        if !is_alive(&run.owner) {
            end_leftovers(&run.run);
            // A record that cannot be closed now is found again next time.
            _ = store.close_interrupted(run);
        }
    }
}

/// Tells whether an owner still lives; of one on another machine we cannot know, and leave it be.
pub(crate) fn is_alive(owner: &OwnerName) -> bool {
    if owner.host != this_host() {
        return true;
    }
    ProcessName {
        pid: owner.pid,
        start_time: owner.start_time,
    }
    .is_alive()
}

fn this_host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// A child takes half a dozen descriptors, and the usual limit is meant for programs without
/// children.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // With the usual limit a few hundred children still fit.
    _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}

/// The signals that tell us to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hang_up.recv() => SignalKind::hangup(),
        };
        kind.as_raw_value()
    }
}
