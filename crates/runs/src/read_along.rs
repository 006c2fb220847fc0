//! Reads along while models write: the words of a run before its record has them.

use std::collections::HashMap;
use std::sync::Arc;

use pi_subagents_engine::{Extent, PartialStream};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::{PartialMessage, RunId};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::elsewhere::{WordsElsewhere, elsewhere};
use pi_subagents_ground::places::Places;

/// The number of messages of a run on another machine that may wait for a slow reader.
const WAITING: usize = 64;

/// Reads the messages that models are still writing, and passes them on.
pub struct ReadAlong<M> {
    tasks: HashMap<(RunId, Extent), AbortHandle>,
    /// Reads the words of other machines, if the program knows any.
    elsewhere: Option<Arc<dyn WordsElsewhere>>,
    tell: mpsc::Sender<M>,
    /// Makes what is passed on.
    told: fn(RunId, PartialMessage) -> M,
}

impl<M: Send + 'static> ReadAlong<M> {
    pub fn new(
        places: &Places,
        tell: mpsc::Sender<M>,
        told: fn(RunId, PartialMessage) -> M,
    ) -> Self {
        Self {
            tasks: HashMap::new(),
            elsewhere: elsewhere(places).map(|elsewhere| elsewhere.words(places)),
            tell,
            told,
        }
    }

    /// Reads along with these runs and with no others.
    pub fn read_only(&mut self, wanted: HashMap<(RunId, Extent), IndexedRun>) {
        self.tasks.retain(|read, task| {
            let is_wanted = wanted.contains_key(read);
            if !is_wanted {
                task.abort();
            }
            is_wanted
        });
        for ((id, extent), run) in wanted {
            self.tasks.entry((id, extent)).or_insert_with(|| {
                let (tell, told) = (self.tell.clone(), self.told);
                let task = if run.owner.fleet.is_some() {
                    tokio::spawn(read_elsewhere(run, self.elsewhere.clone(), tell, told))
                } else {
                    tokio::spawn(read_from_owner(run, extent, tell, told))
                };
                task.abort_handle()
            });
        }
    }
}

impl<M> Drop for ReadAlong<M> {
    fn drop(&mut self) {
        for task in self.tasks.values() {
            task.abort();
        }
    }
}

/// Reads the partial messages of a run until its owner sends no more.
async fn read_from_owner<M>(
    run: IndexedRun,
    extent: Extent,
    tell: mpsc::Sender<M>,
    told: fn(RunId, PartialMessage) -> M,
) {
    let Some(socket) = &run.owner.socket else {
        return;
    };
    // Without it everything is seen too, only later.
    let Ok(mut stream) = PartialStream::begin(socket, run.run.as_str(), extent).await else {
        return;
    };
    while let Some(message) = stream.next().await {
        if tell.send(told(run.run.clone(), message)).await.is_err() {
            return;
        }
    }
}

/// Reads the partial messages of a run on another machine, until nobody wants them any more.
async fn read_elsewhere<M>(
    run: IndexedRun,
    elsewhere: Option<Arc<dyn WordsElsewhere>>,
    tell: mpsc::Sender<M>,
    told: fn(RunId, PartialMessage) -> M,
) {
    // Without them everything is seen too, only later.
    let Some(elsewhere) = elsewhere else {
        return;
    };
    let (sender, mut words) = mpsc::channel(WAITING);
    let reading = elsewhere.read(run.run, sender);
    let passing = async {
        while let Some((run, message)) = words.recv().await {
            if tell.send(told(run, message)).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = passing => {}
    }
}
