//! Follows runs for one tab, until the tab is closed or hidden.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use pi_subagents_engine::Extent;
use pi_subagents_page::View;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::sleep;

use super::tab::Tab;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::elsewhere::follow_elsewhere;
use pi_subagents_runs::follow::{FileChanges, Owners};
use pi_subagents_runs::read_along::ReadAlong;

/// The time within which changes are sent together.
const PACE: Duration = Duration::from_millis(50);

/// The number of words of models that wait to be shown.
const WORDS_WAITING: usize = 64;

/// The number of runs that are read along while their models write.
const MOST_READ_ALONG: usize = 40;

/// Sends the changes to a tab, which may turn to another view. `places` are those of
/// the user whose runs they are.
pub(super) async fn follow(
    mut tab: Tab,
    mut view: watch::Receiver<View>,
    places: &Places,
    tell: mpsc::Sender<String>,
) {
    let index = FileChanges::of_directory(&places.agent_dir);
    let records = FileChanges::new();
    let mut owners = Owners::default();
    let mut watched: HashSet<RunId> = HashSet::new();
    let (say, mut heard) = mpsc::channel(WORDS_WAITING);
    let mut read_along = ReadAlong::new(places, say, |run, message| (run, message));
    let mut left_runs = LeftRuns {
        places: places.clone(),
        tell: tell.clone(),
        tasks: Vec::new(),
    };
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
        read_along.read_only(read_along_with(&tab));
        owners.watch(tab.open_runs());
        let new = watch_new(&tab, &records, &mut watched);
        for run in &new {
            left_runs.follow(run);
        }
        if !new.is_empty() || tab.has_more() {
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
            Some((run, message)) = heard.recv() => tab.take_partial(&run, message),
        }
        sleep(PACE).await;
        while let Ok((run, message)) = heard.try_recv() {
            tab.take_partial(&run, message);
        }
    }
}

/// Watches the runs under way that are not watched yet, and returns them.
fn watch_new<'a>(
    tab: &'a Tab,
    records: &FileChanges,
    watched: &mut HashSet<RunId>,
) -> Vec<&'a IndexedRun> {
    let new = tab
        .open_runs()
        .filter(|run| watched.insert(run.run.clone()));
    new.inspect(|run| records.watch_record(run)).collect()
}

/// Returns the runs under way whose models are read along with: all words of the run that is read,
/// and the newest words of some others.
fn read_along_with(tab: &Tab) -> HashMap<(RunId, Extent), IndexedRun> {
    let runs = tab.open_runs().take(MOST_READ_ALONG).map(|run| {
        let extent = if tab.is_opened(&run.run) {
            Extent::Whole
        } else {
            Extent::Newest
        };
        ((run.run.clone(), extent), run.clone())
    });
    runs.collect()
}

/// Follows runs of a fleet whose callers have left, as long as somebody looks at them.
struct LeftRuns {
    places: Places,
    tell: mpsc::Sender<String>,
    tasks: Vec<AbortHandle>,
}

impl LeftRuns {
    /// Follows a run in its fleet once no other process does.
    fn follow(&mut self, run: &IndexedRun) {
        let Some(following) = follow_elsewhere(&self.places, &run.directory, &run.owner) else {
            return;
        };
        self.tasks.push(following.abort_handle());
        let tell = self.tell.clone();
        let told = tokio::spawn(async move {
            if let Ok(Some(why)) = following.await {
                // The tab may be closed.
                _ = tell.send(json!({"problem": why}).to_string()).await;
            }
        });
        self.tasks.push(told.abort_handle());
    }
}

impl Drop for LeftRuns {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
