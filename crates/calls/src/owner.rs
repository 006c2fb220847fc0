//! This process as an owner of runs: engine, record, socket and signals together.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use pi_subagents_configuration::{ReadSettings, SettingsFiles};
use pi_subagents_engine::{
    Engine, Extent, KnownChildren, Launcher, MeetingPlace, NotRunning, NotSent, OwnerLimits,
    OwnerSocket, PartialReader, ProcessName, ToChild,
};
use pi_subagents_os::{Descriptors as _, System};
use pi_subagents_records::{Detached, Ledgers, OwnerName, Recorder, Store};
use pi_subagents_vocabulary::{
    EventSink, Interruption, Plan, Program, RunId, RunSummary, Secret, Treasurer,
};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tracing::debug;
use tracing::field::display;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::log::RunLog;
use pi_subagents_ground::own_commands::{CONFINE, KEEPER, WARDEN};
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::{Signals, Told, stop_this_process, survive_large_files};
use pi_subagents_runs::acts::Reach;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::owner_process::this_host;
use pi_subagents_runs::upkeep::close_abandoned;

/// This process, ready to own runs.
///
/// # Dropping
///
/// [`Owner::leave`] is the way out: it returns when no process of a run is left. An owner that is
/// only dropped takes its socket away at once and asks the engine to stop all runs; they are stopped
/// in order as long as the runtime lives. When the process ends before that, the keepers end the
/// trees, and the next command of the user closes the records.
pub struct Owner {
    pub name: OwnerName,
    pub store: Store,
    /// The runs of the user, as this process last read them.
    pub index: Arc<KnownIndex>,
    pub recorder: Recorder,
    /// The ledgers of the user's budgets.
    pub(crate) ledgers: Arc<Ledgers>,
    /// The children of this process that are no strangers.
    pub known_children: KnownChildren,
    engine: Engine,
    dispatcher: JoinHandle<()>,
    socket: Option<OwnerSocket>,
    /// True if somebody wants all runs to end.
    ending: watch::Sender<bool>,
}

impl Owner {
    /// Starts the engine, the record and the socket. Runs whose owner is gone are closed first.
    pub(crate) fn start(
        places: &Places,
        concurrency: usize,
        known_children: KnownChildren,
    ) -> Result<Self, CommandError> {
        let store = Store::new(&places.agent_dir);
        Self::start_as(places, store, concurrency, known_children, None)
    }

    /// Starts the same in a process that outlives its caller.
    pub(crate) fn start_detached(
        places: &Places,
        detached: Detached,
        concurrency: usize,
    ) -> Result<Self, CommandError> {
        Self::start_as(
            places,
            Store::new(&places.agent_dir),
            concurrency,
            KnownChildren::kill_unknown(),
            Some(detached),
        )
    }

    /// Starts an owner in a worker of a fleet, which keeps its records apart from those of its
    /// user, because the runs belong to others.
    pub fn start_worker(places: &Places, root: &Path, slots: usize) -> Result<Self, CommandError> {
        let known_children = KnownChildren::kill_unknown();
        Self::start_as(places, Store::new(root), slots, known_children, None)
    }

    fn start_as(
        places: &Places,
        store: Store,
        concurrency: usize,
        known_children: KnownChildren,
        detached: Option<Detached>,
    ) -> Result<Self, CommandError> {
        let failed = |what: &str, error: &io::Error| CommandError::failed(what).because(error);
        let file_limit = raise_file_limit();
        let no_thread = |error: io::Error| {
            failed("this process could not start a thread", &error)
                .hint("ulimit -u prints how many processes and threads this user may have.")
        };
        start_thread_that_waits().map_err(no_thread)?;
        survive_large_files();
        close_abandoned(&store);
        let ours = |command: &str| Program {
            path: places.program.clone(),
            arguments: vec![command.into()],
            has_mcp: false,
            keeps_tools: false,
        };
        let ledgers = Arc::new(Ledgers::of(&places.agent_dir));
        let launcher = Launcher {
            keeper: ours(KEEPER),
            confine: ours(CONFINE),
            warden: ours(WARDEN),
            known_children: known_children.clone(),
            meeting_place: MeetingPlace {
                directory: Some(places.sockets.join("room")),
                most: most_on_machine(places),
            },
            file_limit,
            environment: places.for_children.clone(),
            treasurer: Some(Arc::clone(&ledgers) as Arc<dyn Treasurer>),
            secrets: secrets(places),
        };
        let limits = OwnerLimits {
            concurrency,
            ..OwnerLimits::default()
        };
        let (engine, dispatcher) = Engine::start(launcher, limits)
            .map_err(|error| failed("the engine did not start", &error))?;
        let recorder = Recorder::start(store.index()).map_err(no_thread)?;
        let record = recorder.clone();
        // Without a socket the runs go on; only other processes cannot reach them.
        let socket =
            OwnerSocket::listen(&places.sockets, engine.clone(), move || record.settle()).ok();
        let process = ProcessName::of_this_process();
        let path = socket
            .as_ref()
            .map(|socket| display(socket.path().display()));
        debug!(socket = path, concurrency, file_limit, "owner is ready");
        Ok(Self {
            name: OwnerName {
                pid: process.pid,
                start_time: process.start_time,
                host: this_host(),
                socket: socket.as_ref().map(|socket| socket.path().to_owned()),
                detached,
                fleet: None,
                caller: None,
            },
            known_children,
            recorder,
            ledgers,
            index: Arc::new(KnownIndex::new(store.clone())),
            store,
            engine,
            dispatcher,
            socket,
            ending: watch::Sender::new(false),
        })
    }

    /// Runs a plan to its end, until its record is on disk. The engine has the plan when this
    /// returns, so a stop after that finds its runs.
    ///
    /// The runs go on if the future is dropped: whoever gives up a call stops its runs.
    pub fn run(
        &self,
        plan: Plan,
        mut sinks: Vec<Box<dyn EventSink>>,
    ) -> impl Future<Output = Vec<Arc<RunSummary>>> + Send + use<> {
        sinks.push(Box::new(self.recorder.clone()));
        sinks.extend(RunLog::if_wanted());
        let call = self.engine.run(plan, sinks);
        let recorder = self.recorder.clone();
        async move {
            let outcomes = call.outcomes().await;
            // The disk is waited for on a thread that may wait; if it panics, the record is as it is.
            _ = spawn_blocking(move || recorder.settle()).await;
            outcomes
        }
    }

    /// Has this many runs work at once from now on.
    pub(crate) fn set_places(&self, number: usize) {
        self.engine.set_places(number);
    }

    /// Stops these runs, without waiting for their end. It may be called from a `Drop`, also while
    /// a runtime goes away.
    pub fn stop(&self, runs: &[RunId]) {
        // Without a runtime the engine is gone, and with it all runs.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        for run in runs.iter().cloned() {
            let engine = self.engine.clone();
            runtime.spawn(async move { engine.stop(run).await });
        }
    }

    /// Stops a run and waits until all of its processes are gone.
    pub async fn stop_one(&self, run: RunId) -> Result<Arc<RunSummary>, NotRunning> {
        self.engine.stop(run).await
    }

    /// Sends something to the child of a run: a message, or the answer to a question.
    pub async fn send(&self, run: RunId, what: ToChild) -> Result<(), NotSent> {
        self.engine.send(run, what).await
    }

    /// Reaches the runs of this process, and those of other owners.
    pub fn reach(&self, places: &Places) -> Reach {
        Reach::with_own(places, self.engine.clone())
    }

    /// Reads the newest lines of what the model of a run is writing.
    pub async fn read_partial(&self, run: RunId) -> Result<PartialReader, NotRunning> {
        self.engine.read_partial(run, Extent::Newest).await
    }

    /// Ends all runs because of this signal. A second call ends them at once.
    pub fn shut_down(&self, signal: i32) {
        self.ending.send_replace(true);
        self.engine.shut_down(Interruption::Signal(signal));
    }

    /// Ends all runs because their caller is gone without a word.
    pub fn abandon(&self) {
        self.ending.send_replace(true);
        self.engine.shut_down(Interruption::OwnerGone);
    }

    /// Waits until all runs are to end, for work that the engine does not do.
    pub async fn interrupted(&self) {
        let mut ending = self.ending.subscribe();
        // It fails only if this owner is gone.
        _ = ending.wait_for(|is_ending| *is_ending).await;
    }

    /// Does some work; a signal ends all runs under way, a second signal at once. The work itself is
    /// never dropped half-way: it returns when its runs are over.
    pub async fn until_signalled<T>(
        &self,
        signals: &mut Signals,
        work: impl Future<Output = T>,
    ) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                told = signals.next_signal() => {
                    self.obey(told).await;
                }
            }
        }
    }

    /// Obeys a signal, and returns its number if it ends this process.
    pub async fn obey(&self, told: Told) -> Option<i32> {
        match told {
            Told::End(number) => {
                self.shut_down(number);
                Some(number)
            }
            Told::Pause => {
                self.engine.pause().await;
                self.engine.resume(stop_this_process().await);
                None
            }
        }
    }

    /// Returns what keeps the budgets of the user.
    pub fn treasurer(&self) -> Arc<dyn Treasurer> {
        Arc::clone(&self.ledgers) as Arc<dyn Treasurer>
    }

    /// Ends this owner in order: none of its processes is left when this returns.
    pub async fn leave(self) {
        debug!("owner leaves");
        let Self {
            engine,
            dispatcher,
            socket,
            ..
        } = self;
        if let Some(socket) = socket {
            socket.close().await;
        }
        drop(engine);
        // The dispatcher ends by itself once its last handle is gone; a panic has been printed.
        _ = dispatcher.await;
    }
}

/// Gives the runtime a thread on which blocking work may wait, for as long as the runtime lives: a
/// runtime that gets no thread when it needs one panics.
fn start_thread_that_waits() -> io::Result<()> {
    // One thread for the record, one for the runtime; they live at the same moment.
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let waiting = Arc::new(std::sync::Mutex::new(ended));
    let mut threads = Vec::new();
    let mut started = Ok(());
    for _ in 0..2 {
        let waiting = Arc::clone(&waiting);
        let thread = std::thread::Builder::new().spawn(move || {
            // It ends when the other end is dropped.
            _ = waiting.lock().map(|ended| ended.recv());
        });
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => started = Err(error),
        }
    }
    drop(end);
    for thread in threads {
        // It does nothing that could panic.
        _ = thread.join();
    }
    started?;
    drop(spawn_blocking(|| ()));
    Ok(())
}

/// Raises how many files this process may have open, and returns how many it might before: a child
/// takes half a dozen descriptors, a tab of the page takes one for each run under way, and the usual
/// limit is meant for programs without children.
pub fn raise_file_limit() -> Option<u64> {
    /// The limit of open files that this process was started with; it may become an owner several
    /// times.
    static FIRST: OnceLock<Option<u64>> = OnceLock::new();
    *FIRST.get_or_init(System::raise_limit)
}

/// Returns the variables that hold keys of models. A variable that is no text holds no key.
fn secrets(places: &Places) -> BTreeMap<String, Secret> {
    let names = pi_subagents_agent::secret_variables(&places.agent_dir);
    let found = names.into_iter().filter_map(|name| {
        let value = places.variables.get(OsStr::new(&name))?.to_str()?;
        Some((name, Secret::new(value)))
    });
    found.collect()
}

/// Returns how many sub-agents the user wants at most on this machine.
fn most_on_machine(places: &Places) -> Option<usize> {
    let files = SettingsFiles {
        agent_dir: &places.agent_dir,
        trusted_project: None,
        home: &places.home,
    };
    ReadSettings::of(&files).settings.max_on_machine
}
