//! Discards the changes of runs: their worktrees go, and git has their results for some time.

use pi_subagents_records::IndexedRun;

use super::merge::in_one_worktree;
use crate::merging::{DiscardReport, Discardable, Uncaptured};
use crate::no_result::NoResult;

/// Changes that can be discarded, and runs of which nothing can.
pub struct ToDiscard {
    pub found: Vec<Discardable>,
    pub without: Vec<NoResult>,
}

impl ToDiscard {
    /// Looks at the worktrees of some conversations. All runs that worked in such a worktree count,
    /// because it goes for all of them. One whose result could not be kept stays.
    pub fn find(known: &[IndexedRun], conversations: &[Vec<IndexedRun>]) -> Self {
        Self::find_with(known, conversations, Uncaptured::Stays)
    }

    /// Does the same with a choice for those whose result could not be kept.
    pub fn find_with(
        known: &[IndexedRun],
        conversations: &[Vec<IndexedRun>],
        uncaptured: Uncaptured,
    ) -> Self {
        let mut whole: Vec<Vec<IndexedRun>> = Vec::new();
        for runs in conversations {
            let mut all: Vec<IndexedRun> = Vec::new();
            for run in runs.iter().flat_map(|run| in_one_worktree(run, known)) {
                let is_new = |known: &IndexedRun| known.run != run.run;
                if all.iter().chain(whole.iter().flatten()).all(is_new) {
                    all.push(run);
                }
            }
            whole.extend(Some(all).filter(|all| !all.is_empty()));
        }
        let (found, without) = Discardable::of_all(&whole, uncaptured);
        Self { found, without }
    }

    /// Discards them. A worktree that cannot be removed does not keep the others.
    pub fn discard(self) -> DiscardReport {
        DiscardReport::of(self.found, self.without)
    }
}
