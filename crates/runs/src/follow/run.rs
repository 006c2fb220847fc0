//! Follows runs that belong to other processes: their files grow, they get a result, their owners
//! end.

use std::sync::Arc;

use pi_subagents_records::{IndexedRun, OwnerName, RecordedRun, RunDir};
use pi_subagents_vocabulary::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::files::FileChanges;
use super::owners::owner_gone;
use crate::elsewhere::{Following, follow_elsewhere};
use crate::owner_process::is_alive;
use pi_subagents_ground::places::Places;

/// Follows any number of runs with one set of file events: a user may have few of them.
pub struct Follower {
    /// The places of the user whose fleet is asked about runs that nobody else follows.
    places: Places,
    files: Arc<FileChanges>,
    /// Something may have happened to a run.
    news: watch::Sender<()>,
    pump: Arc<Pump>,
}

/// The task that passes file events on; it ends when nobody follows a run any more.
struct Pump(JoinHandle<()>);

/// A run that is followed, also when its follower is gone. No event after its creation is missed.
pub struct FollowedRun {
    directory: RunDir,
    owner: OwnerName,
    accepted_at: Timestamp,
    news: watch::Receiver<()>,
    _pump: Arc<Pump>,
    /// Follows a run of another machine that no other process follows.
    following: Option<Following>,
    unseen: Option<String>,
}

impl Follower {
    /// Follows runs of the user whose places these are.
    pub fn start(places: &Places) -> Self {
        let files = Arc::new(FileChanges::new());
        let news = watch::Sender::new(());
        let (changes, sender) = (Arc::clone(&files), news.clone());
        let pump = tokio::spawn(async move {
            loop {
                changes.next().await;
                sender.send_replace(());
            }
        });
        Self {
            places: places.clone(),
            files,
            news,
            pump: Arc::new(Pump(pump)),
        }
    }

    /// Follows a run to its end.
    pub fn end_of(&self, run: &IndexedRun) -> FollowedRun {
        self.files.watch_for_new(run.directory.path());
        self.follow(&run.directory, &run.owner, run.accepted_at)
    }

    /// Follows everything that is written down about a run.
    pub fn record_of(&self, run: &IndexedRun) -> FollowedRun {
        self.files.watch_record(run);
        self.follow(&run.directory, &run.owner, run.accepted_at)
    }

    /// Follows everything that is written down in the directory of a run; `None` if there is no
    /// record, and so nobody who could end it.
    pub fn record_in(&self, directory: &RunDir) -> Option<FollowedRun> {
        // Before the record is read, so that nothing happens unseen in between.
        self.files.watch(directory.path());
        let record = RecordedRun::read(directory).ok()?;
        Some(self.follow(directory, &record.owner, record.accepted_at))
    }

    fn follow(&self, directory: &RunDir, owner: &OwnerName, accepted_at: Timestamp) -> FollowedRun {
        self.files.expect_from(owner);
        FollowedRun {
            directory: directory.clone(),
            owner: owner.clone(),
            accepted_at,
            news: self.news.subscribe(),
            _pump: Arc::clone(&self.pump),
            following: follow_elsewhere(&self.places, directory, owner),
            unseen: None,
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl FollowedRun {
    /// Returns whether anything more can happen: the run has no result, and somebody is left who
    /// could write one.
    pub fn is_going(&self) -> bool {
        self.unseen.is_none()
            && !self.directory.result().exists()
            && is_alive(&self.owner, self.accepted_at)
    }

    /// Returns why nobody here follows the run any more although it may go on in its fleet.
    pub fn unseen(&self) -> Option<&str> {
        self.unseen.as_deref()
    }

    /// Waits until something may have happened.
    pub async fn changed(&mut self) {
        tokio::select! {
            Ok(()) = self.news.changed() => {}
            () = owner_gone(&self.owner) => {}
            unseen = followed(&mut self.following) => {
                self.following = None;
                self.unseen = unseen;
            }
        }
    }

    /// Waits until the run has a result, or has nobody left who could write one. Returns why its
    /// end was not seen, if nobody here follows it any more.
    pub(crate) async fn over(mut self) -> Option<String> {
        self.until_over().await;
        self.unseen
    }

    /// Waits until something may have happened, also if nobody here follows the run any more: another
    /// process may see its end. Returns false once the run has a result, or has nobody left who
    /// could write one.
    pub async fn goes_on(&mut self) -> bool {
        if self.is_going() {
            self.changed().await;
            return true;
        }
        let is_elsewhere = self.unseen.is_some() && !self.directory.result().exists();
        is_elsewhere && self.news.changed().await.is_ok()
    }

    async fn until_over(&mut self) {
        while self.is_going() {
            self.changed().await;
        }
    }
}

/// Waits until nobody here follows a run any more; for ever if nobody does.
async fn followed(following: &mut Option<Following>) -> Option<String> {
    match following {
        // A panic was printed, and leaves the run as it is.
        Some(following) => following.await.unwrap_or_default(),
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::pin::pin;
    use std::time::Duration;

    use pi_subagents_engine::ProcessName;
    use tokio::time::timeout;

    use super::*;
    use crate::owner_process::this_host;

    #[tokio::test]
    async fn a_run_is_followed_to_its_end_although_nobody_keeps_the_follower() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = RunDir::new(place.path());
        let process = ProcessName::of_this_process();
        let owner = OwnerName {
            pid: process.pid,
            start_time: process.start_time,
            host: this_host(),
            socket: None,
            detached: None,
            fleet: None,
            caller: None,
        };
        let run = {
            let variables = [("HOME".into(), place.path().into())].into();
            let cwd = place.path().to_owned();
            let places = Places::new(cwd, "pi-subagents".into(), variables).expect("places");
            let follower = Follower::start(&places);
            follower.files.watch_for_new(directory.path());
            follower.follow(&directory, &owner, Timestamp::now())
        };
        let mut over = pin!(run.over());
        assert!(timeout(Duration::ZERO, &mut over).await.is_err());
        fs::write(directory.result(), "{}").expect("a file");
        assert!(timeout(Duration::from_mins(1), over).await.is_ok());
    }
}
