//! Waits for the ends of runs, whichever processes own them.

use pi_subagents_engine::{AskError, Want};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Advice, Door, RunId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::owner::{NotAsked, ask_owner};
use crate::follow::{FollowedRun, Follower};
use pi_subagents_ground::places::Places;

/// Runs whose ends somebody waits for. Nothing is waited for any more once this is dropped.
pub struct Wait {
    ends: JoinSet<(RunId, bool)>,
    notes: mpsc::Receiver<WaitNote>,
}

/// Something that a person who waits should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitNote {
    /// Somebody has stopped the owner of a run, so that the run may never end.
    OwnerSuspended {
        run: RunId,
        name: String,
        owner: u32,
    },
    /// The end of a run of a fleet was not seen.
    NotSeen { name: String, why: String },
}

impl WaitNote {
    /// Words it for somebody behind a door.
    pub fn words(&self, door: Door) -> String {
        match self {
            Self::OwnerSuspended { run, name, owner } => {
                let how = Advice::Stop(run.to_string()).words(door);
                format!(
                    "! the owner of {name} (pid {owner}) is stopped (suspended), and this command \
                     waits for it. kill -CONT {owner} continues it, {how} ends the run without it."
                )
            }
            Self::NotSeen { name, why } => format!("! {name}: {why}"),
        }
    }
}

/// The next thing that happened to runs that are waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    Note(WaitNote),
    /// A run is over, and its end was seen.
    Over(RunId),
    /// A run is not followed any more, and its end was not seen.
    Unseen(RunId),
}

impl Wait {
    /// Begins to wait for runs. No end after this is missed.
    pub fn begin(places: &Places, runs: &[IndexedRun]) -> Self {
        // Each run sends at most one note, so none waits for room.
        let (sender, notes) = mpsc::channel(runs.len().max(1));
        let follower = Follower::start(places);
        let ends = runs.iter().cloned().map(|run| {
            let (sender, end) = (sender.clone(), follower.end_of(&run));
            async move {
                let is_seen = end_of(&run, end, &sender).await;
                (run.run, is_seen)
            }
        });
        let ends = ends.collect();
        Self { ends, notes }
    }

    /// Waits for the next thing that happens; `None` when all runs are over. A wait that is dropped
    /// halfway loses nothing.
    pub async fn next(&mut self) -> Option<Waited> {
        loop {
            // A note comes before the end of its run, and must be read before it: a run sends its
            // note first and ends its task afterwards, so a fair choice could show the end alone.
            let ended = tokio::select! {
                biased;
                Some(note) = self.notes.recv() => return Some(Waited::Note(note)),
                ended = self.ends.join_next() => ended?,
            };
            return match ended {
                Ok((run, true)) => Some(Waited::Over(run)),
                Ok((run, false)) => Some(Waited::Unseen(run)),
                // Nobody cancels these tasks; one that panicked has no more to report, and the
                // others are still waited for.
                Err(_) => continue,
            };
        }
    }

    /// Returns the notes that nobody has read yet.
    pub fn last_notes(mut self) -> Vec<WaitNote> {
        std::iter::from_fn(|| self.notes.try_recv().ok()).collect()
    }
}

/// Waits for the end of a run, and returns whether it was seen. Asks the owner first; if the owner
/// is gone, has forgotten the run or cannot be asked, the files of the run and the end of the owner
/// show when the run is over.
async fn end_of(run: &IndexedRun, followed: FollowedRun, notes: &mpsc::Sender<WaitNote>) -> bool {
    let name = one_line(&run.name);
    if run.owner.fleet.is_some() {
        let unseen = followed.over().await;
        if let Some(why) = unseen.clone() {
            // The reader may have seen enough.
            _ = notes.send(WaitNote::NotSeen { name, why }).await;
        }
        return unseen.is_none();
    }
    match ask_owner(run, Want::Wait).await {
        Ok(_) => return true,
        Err(NotAsked::NoAnswer(AskError::Stopped { pid })) => {
            let run = run.run.clone();
            let note = WaitNote::OwnerSuspended {
                run,
                name,
                owner: pid,
            };
            // The reader may have seen enough.
            _ = notes.send(note).await;
        }
        Err(_) => {}
    }
    followed.over().await.is_none()
}
