//! The index as all tabs and questions see it: read again only when it has changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use pi_subagents_records::{FindError, IndexedRun, Store};
use pi_subagents_vocabulary::Timestamp;

use super::scope::Scope;
use super::sums::Sums;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::owned::{current_runs, is_owned};

/// The index of this user, and its content when it was last read.
pub(super) struct Index {
    store: Store,
    places: Arc<Places>,
    known: Mutex<Option<Arc<KnownRuns>>>,
}

/// The runs of the index at some moment, oldest first.
pub(super) struct KnownRuns {
    pub(super) runs: Vec<IndexedRun>,
    /// The length and the time of the file.
    file: Option<(u64, Option<SystemTime>)>,
    /// The sums over the finished runs of a scope since the beginning of a day.
    sums: Mutex<HashMap<(Scope, Timestamp), Arc<Sums>>>,
}

impl Index {
    pub(super) fn new(store: Store, places: Arc<Places>) -> Self {
        Self {
            store,
            places,
            known: Mutex::new(None),
        }
    }

    /// Returns the runs, after closing those whose owner is gone. As long as nothing has changed,
    /// everybody gets the same value.
    pub(super) fn runs(&self) -> Result<Arc<KnownRuns>, FindError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref().filter(|known| self.is_current(known)) {
            return Ok(Arc::clone(known));
        }
        // A line that is written while we read makes the file differ from this.
        let file = self.file();
        let read = Arc::new(KnownRuns {
            runs: current_runs(&self.store, &self.places)?,
            file,
            sums: Mutex::default(),
        });
        *known = Some(Arc::clone(&read));
        Ok(read)
    }

    fn is_current(&self, known: &KnownRuns) -> bool {
        // Somebody must ask the fleet about its runs, and close the runs of an owner that died. One
        // owner has many runs, and is looked at once.
        let mut owners = HashSet::new();
        let mut is_settled = |run: &IndexedRun| {
            let owner = &run.owner;
            let is_new = owners.insert((owner.pid, owner.start_time, owner.host.clone()));
            owner.fleet.is_none() && (!is_new || is_owned(run))
        };
        let mut open = known.runs.iter().filter(|run| run.is_open());
        self.file() == known.file && open.all(&mut is_settled)
    }

    fn file(&self) -> Option<(u64, Option<SystemTime>)> {
        let file = fs::metadata(self.store.index()).ok()?;
        Some((file.len(), file.modified().ok()))
    }
}

impl KnownRuns {
    /// Returns the runs of a scope, oldest first.
    pub(super) fn of<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> impl DoubleEndedIterator<Item = &'a IndexedRun> {
        self.runs.iter().filter(|run| scope.has(run))
    }

    /// Returns the sums over the finished runs of a scope.
    pub(super) fn sums(&self, scope: &Scope, today: Timestamp) -> Arc<Sums> {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sums.entry((scope.clone(), today));
        let added = || {
            let finished = self.of(scope).filter(|run| !run.is_open());
            Arc::new(Sums::of(finished, today))
        };
        Arc::clone(known.or_insert_with(added))
    }
}
