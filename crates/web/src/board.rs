//! The runs as all tabs see them. One task follows the index, the records of open runs, their owners
//! and the words of their models for all tabs together; a tab takes from the board what is newer than
//! what it has seen.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_engine::Extent;
use pi_subagents_ground::places::Places;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::follow::{AwaitedNews, Depth, FileChanges, FollowedRuns, RunNews};
use pi_subagents_runs::read_along::ReadAlong;
use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{PartialMessage, RunId};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::context::ContextSizes;
use crate::finished_runs::FinishedRuns;
use crate::index::{Index, SeenRuns};
use crate::open_run::OpenRun;

/// The time within which changes are sent together.
const PACE: Duration = Duration::from_millis(50);

/// The number of words of models that wait to be shown.
const WORDS_WAITING: usize = 64;

/// The number of runs that are read along while their models write.
const MOST_READ_ALONG: usize = 40;

/// The number of runs that have just ended and are kept until all tabs have got their last events.
const MOST_ENDED: usize = 64;

/// The number of results that are watched until somebody merges or discards them.
const MOST_WATCHED: usize = 200;

/// The runs, as far as tabs look at them.
pub(crate) struct Board {
    pub(crate) places: Arc<Places>,
    pub(crate) index: Arc<Index>,
    pub(crate) finished: Arc<FinishedRuns>,
    sizes: Arc<ContextSizes>,
    state: Mutex<BoardState>,
    /// The version of the state, for those who wait for the next one.
    version: watch::Sender<u64>,
    /// Somebody came, left, or reads another run.
    turned: Notify,
}

/// The state of the board. Each change has a version, which only grows.
#[derive(Default)]
pub(crate) struct BoardState {
    pub(crate) version: u64,
    pub(crate) known: Option<Arc<SeenRuns>>,
    /// Grows whenever a result was merged or discarded.
    pub(crate) results: u64,
    /// The last problem, and the version that it came with.
    pub(crate) problem: Option<(u64, String)>,
    pub(crate) open: HashMap<RunId, OpenRun>,
    /// Runs that have ended since, the newest at the end.
    pub(crate) ended: VecDeque<OpenRun>,
    /// The runs that tabs read, and by how many.
    readers: HashMap<RunId, usize>,
    tabs: usize,
    /// True if something has changed that no tab knows of yet.
    is_new: bool,
}

impl Board {
    /// Makes the board, and begins to follow the runs as soon as a tab comes.
    pub(crate) fn start(
        places: Arc<Places>,
        index: Arc<Index>,
        finished: Arc<FinishedRuns>,
        sizes: Arc<ContextSizes>,
    ) -> Arc<Self> {
        let board = Arc::new(Self {
            places,
            index,
            finished,
            sizes,
            state: Mutex::default(),
            version: watch::Sender::new(0),
            turned: Notify::new(),
        });
        // It ends with the server, which ends with its process.
        tokio::spawn(follow(Arc::clone(&board)));
        board
    }

    /// Returns the state of the board.
    pub(crate) fn state(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the version of the board, which changes with it.
    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Notes that a tab has come.
    pub(crate) fn enter(&self) {
        self.state().tabs += 1;
        self.turned.notify_one();
    }

    /// Notes that a tab has left.
    pub(crate) fn leave(&self) {
        self.state().tabs -= 1;
        self.turned.notify_one();
    }

    /// Notes that a tab reads a run.
    pub(crate) fn begin_reading(&self, run: &RunId) {
        *self.state().readers.entry(run.clone()).or_default() += 1;
        self.turned.notify_one();
    }

    /// Notes that a tab reads a run no longer.
    pub(crate) fn end_reading(&self, run: &RunId) {
        let mut state = self.state();
        if let Some(count) = state.readers.get_mut(run) {
            *count -= 1;
            if *count == 0 {
                state.readers.remove(run);
            }
        }
        drop(state);
        self.turned.notify_one();
    }

    /// Looks again at results that wait, because one was merged or discarded.
    pub(crate) fn look_at_results(&self) {
        let Some(known) = self.state().known.clone() else {
            return;
        };
        if self.finished.look_again(&known.runs) {
            let mut state = self.state();
            state.results += 1;
            state.is_new = true;
            drop(state);
            self.turned.notify_one();
        }
    }

    /// Looks at everything that may have changed, and wakes the tabs if something has.
    fn look(&self) {
        let known = self.index.tended();
        let mut state = self.state();
        let version = state.version + 1;
        let mut is_new = std::mem::take(&mut state.is_new);
        match known {
            Ok(known) => is_new |= state.take_runs(&known, &self.context()),
            Err(error) => is_new |= state.take_problem(version, error.to_string()),
        }
        state.keep_items_of_readers();
        let size = |model: &str| self.sizes.of(model, &self.places);
        state.open.values_mut().for_each(OpenRun::read);
        let BoardState { open, ended, .. } = &mut *state;
        for run in open.values_mut().chain(ended) {
            is_new |= run.publish(version, size);
        }
        if is_new {
            state.version = version;
            self.version.send_replace(version);
        }
    }

    /// Notes why a run of another machine is not followed any more.
    fn note(&self, news: RunNews) {
        if let RunNews::Left(Some(why)) = news {
            let mut state = self.state();
            let version = state.version + 1;
            let is_new = state.take_problem(version, why);
            state.is_new |= is_new;
        }
    }

    fn take_partial(&self, run: &RunId, message: PartialMessage) {
        let mut state = self.state();
        let version = state.version + 1;
        if let Some(open) = state.open.get_mut(run) {
            open.take_partial(message, version);
        }
    }

    /// Returns the runs that are open.
    fn open_runs(&self) -> Vec<IndexedRun> {
        let state = self.state();
        state.open.values().map(|open| open.run.clone()).collect()
    }

    /// Returns the finished runs whose worktree may still change, the newest first.
    fn unsettled(&self) -> Vec<IndexedRun> {
        let Some(known) = self.state().known.clone() else {
            return Vec::new();
        };
        let unsettled = self.finished.unsettled(known.runs.iter().rev());
        let some = unsettled.into_iter().take(MOST_WATCHED);
        some.cloned().collect()
    }

    /// Returns the open runs whose models are read along with: all words of those that are read, and
    /// the newest words of some others.
    fn read_along_with(&self) -> HashMap<(RunId, Extent), IndexedRun> {
        let state = self.state();
        let is_read = |run: &OpenRun| state.readers.contains_key(&run.run.run);
        let (mut read, others): (Vec<&OpenRun>, Vec<&OpenRun>) =
            state.open.values().partition(|run| is_read(run));
        read.extend(others);
        let runs = read.into_iter().take(MOST_READ_ALONG).map(|open| {
            let extent = if is_read(open) {
                Extent::Whole
            } else {
                Extent::Newest
            };
            ((open.run.run.clone(), extent), open.run.clone())
        });
        runs.collect()
    }

    fn context(&self) -> PreviewContext {
        PreviewContext {
            home: Some(self.places.home.clone()),
            ..PreviewContext::default()
        }
    }

    fn has_tabs(&self) -> bool {
        self.state().tabs > 0
    }

    /// Lets everything go that was read for tabs, because there is none.
    fn clear(&self) {
        let mut state = self.state();
        state.known = None;
        state.open.clear();
        state.ended.clear();
    }
}

impl BoardState {
    /// Takes the runs of the index, and returns whether they are others than before.
    fn take_runs(&mut self, known: &Arc<SeenRuns>, context: &PreviewContext) -> bool {
        let is_same = |old: &Arc<SeenRuns>| Arc::ptr_eq(old, known);
        if self.known.as_ref().is_some_and(is_same) {
            return false;
        }
        self.known = Some(Arc::clone(known));
        self.problem = None;
        let open: HashMap<&RunId, &IndexedRun> = known
            .runs
            .iter()
            .filter(|run| run.is_open())
            .map(|run| (&run.run, run))
            .collect();
        let over: Vec<RunId> = self.open.keys().cloned().collect();
        for run in over.iter().filter(|run| !open.contains_key(run)) {
            if let Some(mut ended) = self.open.remove(run) {
                // Its owner has written everything before the line in the index.
                ended.read();
                self.ended.push_back(ended);
            }
        }
        while self.ended.len() > MOST_ENDED {
            self.ended.pop_front();
        }
        for (id, run) in open {
            self.open
                .entry(id.clone())
                .or_insert_with(|| OpenRun::new(run.clone(), context));
        }
        true
    }

    fn take_problem(&mut self, version: u64, problem: String) -> bool {
        let is_known = self
            .problem
            .as_ref()
            .is_some_and(|(_, old)| *old == problem);
        if !is_known {
            self.problem = Some((version, problem));
        }
        !is_known
    }

    fn keep_items_of_readers(&mut self) {
        for (id, run) in &mut self.open {
            if self.readers.contains_key(id) {
                run.keep_items();
            } else {
                run.drop_items();
            }
        }
    }

    /// Returns a run that is open or has just ended.
    pub(crate) fn followed(&self, run: &RunId) -> Option<&OpenRun> {
        let ended = || self.ended.iter().find(|ended| ended.run.run == *run);
        self.open.get(run).or_else(ended)
    }
}

/// Follows the runs as long as there are tabs, and waits for tabs while there are none.
async fn follow(board: Arc<Board>) {
    loop {
        while !board.has_tabs() {
            board.turned.notified().await;
        }
        follow_for_tabs(&board).await;
        board.clear();
    }
}

/// Follows the runs until the last tab has left.
async fn follow_for_tabs(board: &Arc<Board>) {
    let mut followed = FollowedRuns::start(&board.places, Depth::Records);
    let results = FileChanges::new();
    let mut watched = HashSet::new();
    let (send, mut words) = mpsc::channel(WORDS_WAITING);
    let mut read_along = ReadAlong::new(&board.places, send, |run, message| (run, message));
    while board.has_tabs() {
        let looking = Arc::clone(board);
        if spawn_blocking(move || looking.look()).await.is_err() {
            // A panic was printed; the next change is looked at again.
            sleep(PACE).await;
        }
        read_along.read_only(board.read_along_with());
        for run in board.unsettled() {
            if watched.insert(run.run.clone()) {
                results.watch_record(&run);
            }
        }
        if followed.follow(board.open_runs().iter()) {
            // Something may have happened before they were watched.
            continue;
        }
        tokio::select! {
            () = board.turned.notified() => continue,
            news = followed.next(AwaitedNews::ALL) => board.note(news),
            () = results.next() => board.look_at_results(),
            Some((run, message)) = words.recv() => board.take_partial(&run, message),
        }
        sleep(PACE).await;
        while let Ok((run, message)) = words.try_recv() {
            board.take_partial(&run, message);
        }
    }
}
