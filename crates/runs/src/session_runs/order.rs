//! The order of the runs, and the limit of their entries in memory.

use std::collections::HashMap;

use pi_subagents_records::RunIds as _;
use pi_subagents_vocabulary::{RunId, SessionId};

use super::{SessionRun, State};

/// The number of sessions that keep their entries in memory.
const MAX_SESSIONS: usize = 32;

/// The number of runs of one session that keep their entries in memory.
const MAX_RUNS: usize = 10;

impl State {
    /// Gives a run its place in the order, unless it has one.
    pub(super) fn enter(&mut self, run: &RunId) {
        let next = self.places.len();
        self.places.entry(run.clone()).or_insert(next);
    }

    /// Adds a run, or replaces the known one.
    pub(super) fn put(&mut self, run: SessionRun) {
        self.enter(run.run_id());
        match self.run(run.run_id()) {
            Some(known) => *known = run,
            None => self.runs.push(run),
        }
    }

    pub(super) fn run(&mut self, run: &RunId) -> Option<&mut SessionRun> {
        self.runs.iter_mut().find(|known| known.run_id() == run)
    }

    /// Returns all runs in the order they were accepted.
    pub(super) fn in_order(&self) -> Vec<SessionRun> {
        let mut runs = self.runs.clone();
        runs.sort_by_key(|run| self.places.get(run.run_id()).copied());
        runs
    }

    /// Drops the entries that are too many, oldest first. The ids of these runs stay known,
    /// because their directories may still be there.
    pub(super) fn drop_oldest_entries(&mut self) {
        // The number of runs of each kept session that have been seen; a session that runs is
        // always kept.
        let mut kept: HashMap<SessionId, usize> = self
            .runs
            .iter()
            .filter(|run| !run.row.is_over())
            .map(|run| (run.session_id().clone(), 0))
            .collect();
        let most = MAX_SESSIONS.max(kept.len());
        let places = &self.places;
        let mut newest_first: Vec<&mut SessionRun> = self.runs.iter_mut().collect();
        newest_first.sort_by_key(|run| std::cmp::Reverse(places.get(run.run_id()).copied()));
        for run in newest_first {
            if kept.len() < most {
                kept.entry(run.session_id().clone()).or_default();
            }
            let is_kept = kept.get_mut(run.session_id()).is_some_and(|runs| {
                *runs += 1;
                *runs <= MAX_RUNS
            });
            if !is_kept {
                run.entry = None;
            }
        }
    }
}
