//! Follows runs for one tab, until the tab is closed or hidden.

use std::collections::HashMap;
use std::time::Duration;

use pi_subagents_engine::Extent;
use pi_subagents_page::View;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::tab::Tab;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::follow::{AwaitedNews, Depth, FollowedRuns, RunNews};
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
    let mut followed = FollowedRuns::start(places, Depth::Records);
    let (say, mut heard) = mpsc::channel(WORDS_WAITING);
    let mut read_along = ReadAlong::new(places, say, |run, message| (run, message));
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
        if followed.follow(tab.open_runs()) || tab.has_more() {
            // Something may have happened before they were watched.
            continue;
        }
        tokio::select! {
            () = tell.closed() => return,
            Ok(()) = view.changed() => tab.turn_to(view.borrow_and_update().clone()),
            news = followed.next(AwaitedNews::ALL) => {
                if let RunNews::Left(Some(why)) = news {
                    // The tab may be closed.
                    _ = tell.send(json!({"problem": why}).to_string()).await;
                }
            }
            Some((run, message)) = heard.recv() => tab.take_partial(&run, message),
        }
        sleep(PACE).await;
        while let Ok((run, message)) = heard.try_recv() {
            tab.take_partial(&run, message);
        }
    }
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
