//! The runs as all tabs and questions see them, with the sums over them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_records::{FindError, IndexedRun};
use pi_subagents_vocabulary::Timestamp;

use super::scope::Scope;
use super::sums::Sums;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend;

/// The index of this user, and the runs that were seen in it last.
pub(super) struct Index {
    known: KnownIndex,
    places: Arc<Places>,
    seen: Mutex<Option<Arc<SeenRuns>>>,
}

/// The runs of the index at some moment, oldest first.
pub(super) struct SeenRuns {
    pub(super) runs: Arc<[IndexedRun]>,
    /// The sums over the finished runs of a scope since the beginning of a day.
    sums: Mutex<HashMap<(Scope, Timestamp), Arc<Sums>>>,
}

impl Index {
    pub(super) fn new(places: Arc<Places>) -> Self {
        Self {
            known: KnownIndex::of(&places),
            places,
            seen: Mutex::new(None),
        }
    }

    /// Returns the index itself.
    pub(super) fn known(&self) -> &KnownIndex {
        &self.known
    }

    /// Tends the runs and returns them, for whoever watches them.
    pub(super) fn tended(&self) -> Result<Arc<SeenRuns>, FindError> {
        tend(&self.known, &self.places);
        self.runs()
    }

    /// Returns the runs. As long as nothing has changed, everybody gets the same value.
    pub(super) fn runs(&self) -> Result<Arc<SeenRuns>, FindError> {
        let runs = self.known.runs()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.as_ref().filter(|seen| Arc::ptr_eq(&seen.runs, &runs)) {
            return Ok(Arc::clone(seen));
        }
        let new = Arc::new(SeenRuns {
            runs,
            sums: Mutex::default(),
        });
        *seen = Some(Arc::clone(&new));
        Ok(new)
    }
}

impl SeenRuns {
    /// Returns the runs of a scope, oldest first.
    pub(super) fn of<'a>(
        &'a self,
        scope: &Scope,
    ) -> impl DoubleEndedIterator<Item = &'a IndexedRun> {
        self.runs.iter().filter(move |run| scope.has(run))
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
