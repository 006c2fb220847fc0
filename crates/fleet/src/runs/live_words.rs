//! The words that models in the fleet are just writing, for windows that show them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_engine::PartialUpdate;
use pi_subagents_fleet_queue::{Fleet, Words};
use pi_subagents_vocabulary::{PartialMessage, RunId};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};

use super::control::fleet_of_user;
use super::worker_requests::{WorkerReply, WorkerWant, ask_worker};
use pi_subagents_ground::places::Places;
use pi_subagents_runs::elsewhere::{Pending, WordsElsewhere};

/// The time for which a worker goes on sending words after it was asked to.
pub(crate) const HEARD: Duration = Duration::from_secs(30);

/// The pause after which it is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// The pause before a worker is asked that does not hear yet.
const NOT_YET: Duration = Duration::from_millis(300);

/// The number of words that may wait for a slow terminal. Words that do not fit are left out: newer
/// words hold more.
const WAITING: usize = 64;

/// More of one message is not read; a window shows its newest lines.
const LONGEST: usize = 64 << 10;

/// The connection over which the words of runs in the fleet of this user are read. It is made when it
/// is first needed.
pub(crate) struct FleetWords {
    places: Places,
    fleet: OnceCell<Fleet>,
}

impl FleetWords {
    /// Reads words in the fleet of the user whose places these are.
    pub(crate) fn new(places: &Places) -> Self {
        Self {
            places: places.clone(),
            fleet: OnceCell::new(),
        }
    }
}

impl WordsElsewhere for FleetWords {
    fn read(
        self: Arc<Self>,
        run: RunId,
        words: mpsc::Sender<(RunId, PartialMessage)>,
    ) -> Pending<'static, ()> {
        Box::pin(async move {
            let connect = || fleet_of_user(&self.places);
            // Without the fleet everything is seen too, only later.
            if let Ok(fleet) = self.fleet.get_or_try_init(connect).await {
                listen(fleet.clone(), run, words).await;
            }
        })
    }
}

/// The words of the runs of a call. Nobody listens any more when it is dropped.
pub(super) struct LiveWords {
    fleet: Fleet,
    heard: mpsc::Sender<(RunId, PartialMessage)>,
    words: mpsc::Receiver<(RunId, PartialMessage)>,
    listening: BTreeMap<RunId, JoinHandle<()>>,
}

impl LiveWords {
    pub(super) fn new(fleet: &Fleet) -> Self {
        let (heard, words) = mpsc::channel(WAITING);
        Self {
            fleet: fleet.clone(),
            heard,
            words,
            listening: BTreeMap::new(),
        }
    }

    /// Listens to a run that a worker has taken, unless it does already.
    pub(super) fn listen(&mut self, run: &RunId) {
        if !self.listening.contains_key(run) {
            let listening = listen(self.fleet.clone(), run.clone(), self.heard.clone());
            self.listening.insert(run.clone(), tokio::spawn(listening));
        }
    }

    /// Listens to a run no more.
    pub(super) fn forget(&mut self, run: &RunId) {
        if let Some(listening) = self.listening.remove(run) {
            listening.abort();
        }
    }

    /// Waits for the next words. Nothing is lost if this is not waited for to its end.
    pub(super) async fn next(&mut self) -> (RunId, PartialMessage) {
        match self.words.recv().await {
            Some(words) => words,
            // A sender is kept here.
            None => std::future::pending().await,
        }
    }
}

impl Drop for LiveWords {
    fn drop(&mut self) {
        self.listening.values().for_each(JoinHandle::abort);
    }
}

async fn listen(fleet: Fleet, run: RunId, heard: mpsc::Sender<(RunId, PartialMessage)>) {
    let Ok(mut words) = fleet.listen(&run).await else {
        // The record has all of it in the end.
        return;
    };
    loop {
        let asked = ask_worker(&fleet, &run, WorkerWant::Listen).await;
        if !matches!(asked, WorkerReply::Replied(_)) {
            sleep(NOT_YET).await;
            continue;
        }
        forward(&mut words, &run, &heard).await;
    }
}

/// Hands words on until the worker must be asked again.
async fn forward(words: &mut Words, run: &RunId, heard: &mpsc::Sender<(RunId, PartialMessage)>) {
    let end = Instant::now() + ASK_AGAIN;
    while let Ok(Some(said)) = timeout_at(end, words.next()).await {
        let update = said.get(..said.len().min(LONGEST)).unwrap_or_default();
        if let Ok(update) = serde_json::from_slice::<PartialUpdate>(update) {
            _ = heard.try_send((run.clone(), update.into_message()));
        }
    }
}
