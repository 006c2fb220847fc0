//! Follows all runs that somebody looks at: the index, in which runs begin and end, the records of
//! the open ones, their owners, and runs of other machines that nobody else follows.

use std::collections::HashSet;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use tokio::task::{AbortHandle, JoinSet};

use super::files::FileChanges;
use super::owners::Owners;
use crate::elsewhere::follow_elsewhere;
use pi_subagents_ground::places::Places;

/// The runs of a user, as somebody looks at them. Everything that is followed is let go when this
/// is dropped; the runs themselves go on.
///
/// A watcher calls [`FollowedRuns::follow`] with the runs that it has just read, and looks once more
/// if that returns true: between its look and the watch, a record may have grown. Only the order
/// watch first, look second leaves no gap.
pub struct FollowedRuns {
    places: Places,
    depth: Depth,
    index: FileChanges,
    records: FileChanges,
    owners: Owners,
    /// The runs whose records are watched.
    watched: HashSet<RunId>,
    /// Each ends when nobody here follows a run of another machine any more, and returns why if its
    /// end was not seen.
    elsewhere: JoinSet<Option<String>>,
    tasks: Vec<AbortHandle>,
}

/// How closely runs are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Runs that begin and end.
    Ends,
    /// Everything that happens in open runs.
    Records,
}

/// The news that somebody waits for. Somebody who will look in a moment anyway does not wait for
/// another reason to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwaitedNews {
    /// True if changes of the index count.
    pub index: bool,
    /// True if changes of records count.
    pub records: bool,
}

impl AwaitedNews {
    /// Everything counts.
    pub const ALL: Self = Self {
        index: true,
        records: true,
    };
}

/// Something that may have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunNews {
    /// The index has changed.
    Index,
    /// The record of a run has grown.
    Record,
    /// An owner is gone. The ends of its runs stand in no file until somebody looks.
    OwnerGone,
    /// A run of another machine is not followed any more. There is a reason if its end was not
    /// seen.
    Left(Option<String>),
}

impl FollowedRuns {
    /// Begins with the index of the user whose places these are.
    pub fn start(places: &Places, depth: Depth) -> Self {
        Self {
            places: places.clone(),
            depth,
            index: FileChanges::of_directory(&places.agent_dir),
            records: FileChanges::new(),
            owners: Owners::default(),
            watched: HashSet::new(),
            elsewhere: JoinSet::new(),
            tasks: Vec::new(),
        }
    }

    /// Follows these runs too, as far as they are open. Returns whether the record of one is watched
    /// from now on: then something may have happened before, and the caller looks once more.
    pub fn follow<'a>(&mut self, runs: impl Iterator<Item = &'a IndexedRun>) -> bool {
        let open: Vec<&IndexedRun> = runs.filter(|run| run.is_open()).collect();
        self.owners.watch(open.iter().copied());
        if self.depth == Depth::Ends {
            return false;
        }
        let mut has_new = false;
        for run in open {
            if self.watched.insert(run.run.clone()) {
                has_new = true;
                self.records.watch_record(run);
                self.follow_elsewhere(run);
            }
        }
        has_new
    }

    /// Follows a run of another machine once no other process does.
    fn follow_elsewhere(&mut self, run: &IndexedRun) {
        let Some(following) = follow_elsewhere(&self.places, &run.directory, &run.owner) else {
            return;
        };
        self.tasks.push(following.abort_handle());
        // A panic was printed, and leaves the run as it is.
        self.elsewhere
            .spawn(async { following.await.unwrap_or_default() });
    }

    /// Waits until something may have happened; changes that come together count once. Nothing is
    /// missed if this is given up half-way.
    pub async fn next(&mut self, awaited: AwaitedNews) -> RunNews {
        loop {
            return tokio::select! {
                () = self.index.next(), if awaited.index => RunNews::Index,
                () = self.records.next(), if awaited.records => RunNews::Record,
                () = self.owners.next() => RunNews::OwnerGone,
                Some(left) = self.elsewhere.join_next() => match left {
                    Ok(why) => RunNews::Left(why),
                    Err(_) => continue,
                },
            };
        }
    }
}

impl Drop for FollowedRuns {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
