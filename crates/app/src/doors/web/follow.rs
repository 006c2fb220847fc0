//! Follows runs for one tab, until the tab is closed or hidden.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use pi_subagents_delegation::{PartialMessage, RunId};
use pi_subagents_engine::{Extent, PartialStream};
use pi_subagents_page::View;
use pi_subagents_sessions::IndexedRun;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::sleep;

use super::tab::Tab;
use crate::runs::follow::{FileChanges, Owners};

/// The time within which changes are sent together.
const PACE: Duration = Duration::from_millis(50);

/// The number of runs that are read along while their models write.
const MOST_READ_ALONG: usize = 40;

/// Sends the changes to a tab, which may turn to another view. `agent_dir` is the directory of the
/// index.
pub(super) async fn follow(
    mut tab: Tab,
    mut view: watch::Receiver<View>,
    agent_dir: &Path,
    tell: mpsc::Sender<String>,
) {
    let index = FileChanges::of_directory(agent_dir);
    let records = FileChanges::new();
    let mut owners = Owners::default();
    let mut watched: HashSet<RunId> = HashSet::new();
    let mut words = Words::new();
    loop {
        let looked = spawn_blocking(move || {
            let told = tab.look();
            (tab, told)
        });
        let Ok((looked, told)) = looked.await else {
            return;
        };
        tab = looked;
        for piece in told {
            if tell.send(piece).await.is_err() {
                return;
            }
        }
        words.read_only(&tab);
        owners.watch(tab.open_runs());
        if watch_new(&tab, &records, &mut watched) || tab.has_more() {
            // Something may have happened before they were watched.
            continue;
        }
        tokio::select! {
            () = tell.closed() => return,
            Ok(()) = view.changed() => tab.turn_to(view.borrow_and_update().clone()),
            () = index.next() => {}
            () = records.next() => {}
            // The end of its runs stands in no file until somebody looks.
            () = owners.next() => {}
            Some((run, message)) = words.heard.recv() => tab.take_partial(&run, message),
        }
        sleep(PACE).await;
        while let Ok((run, message)) = words.heard.try_recv() {
            tab.take_partial(&run, message);
        }
    }
}

/// Watches the runs under way that are not watched yet. Returns whether there were any.
fn watch_new(tab: &Tab, records: &FileChanges, watched: &mut HashSet<RunId>) -> bool {
    let mut is_new = false;
    for run in tab.open_runs() {
        if watched.insert(run.run.clone()) {
            records.watch_record(run);
            is_new = true;
        }
    }
    is_new
}

/// Reads the messages that models are still writing.
struct Words {
    tasks: HashMap<(RunId, Extent), AbortHandle>,
    say: mpsc::Sender<(RunId, PartialMessage)>,
    heard: mpsc::Receiver<(RunId, PartialMessage)>,
}

impl Words {
    fn new() -> Self {
        let (say, heard) = mpsc::channel(64);
        Self {
            tasks: HashMap::new(),
            say,
            heard,
        }
    }

    /// Reads along with the runs under way: all words of the run that is read, and the newest words
    /// of some others.
    fn read_only(&mut self, tab: &Tab) {
        let wanted: HashMap<(RunId, Extent), &IndexedRun> = tab
            .open_runs()
            .take(MOST_READ_ALONG)
            .map(|run| {
                let extent = if tab.is_opened(&run.run) {
                    Extent::Whole
                } else {
                    Extent::Newest
                };
                ((run.run.clone(), extent), run)
            })
            .collect();
        self.tasks.retain(|read, task| {
            let is_wanted = wanted.contains_key(read);
            if !is_wanted {
                task.abort();
            }
            is_wanted
        });
        for ((id, extent), run) in wanted {
            self.tasks.entry((id, extent)).or_insert_with(|| {
                let task = tokio::spawn(read_along(run.clone(), extent, self.say.clone()));
                task.abort_handle()
            });
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        for task in self.tasks.values() {
            task.abort();
        }
    }
}

async fn read_along(run: IndexedRun, extent: Extent, say: mpsc::Sender<(RunId, PartialMessage)>) {
    let Some(socket) = &run.owner.socket else {
        return;
    };
    // Without it everything is seen too, only later.
    let Ok(mut stream) = PartialStream::begin(socket, run.run.as_str(), extent).await else {
        return;
    };
    while let Some(message) = stream.next().await {
        if say.send((run.run.clone(), message)).await.is_err() {
            return;
        }
    }
}
