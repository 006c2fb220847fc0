//! The runs of the session that pi is in: those in its entries, those under way, and its background
//! runs.
//!
//! Inside pi an id is known if it is here. The messages of a run are read from its directory; the
//! entry is held only for runs that have no directory any more, and only for the newest sessions.

mod order;
mod run;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_records::{FindError, FindScope, Finder, Prefers, RunIds as _, RunOrSession};
use pi_subagents_vocabulary::{RunId, RunSummary, SessionId, Task, Timestamp};
use serde_json::Value;

use super::entries::{BeginEntry, EndEntry, KeptBackgroundRuns};
use crate::row::RunRow;
use pi_subagents_vocabulary::Counts;
pub use run::SessionRun;

/// A session that pi has begun or opened.
pub struct StartedSession<'a> {
    /// Its id.
    pub id: &'a str,
    /// True if the session has no earlier messages.
    pub is_new: bool,
    /// The entries it holds, each `{customType, data}`, oldest first.
    pub entries: &'a [Value],
}

/// The known runs of pi's session.
#[derive(Debug, Default)]
pub struct SessionRuns {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pi_session: String,
    runs: Vec<SessionRun>,
    /// The place of each run in the order in which they were accepted.
    places: HashMap<RunId, usize>,
}

impl SessionRuns {
    /// Returns the run or session in pi's session that a word means.
    pub fn find(
        &self,
        word: &str,
        prefers: Prefers,
    ) -> Result<RunOrSession<SessionRun>, FindError> {
        let scope = FindScope::Given;
        Finder { scope, prefers }.find(&self.all(), word)
    }

    /// Returns the runs of a session of ours, oldest first.
    pub(crate) fn session(&self, session: &SessionId) -> Vec<SessionRun> {
        let mut runs = self.all();
        runs.retain(|run| run.session_id() == session);
        runs
    }

    /// Returns all runs, in the order they were accepted.
    pub fn all(&self) -> Vec<SessionRun> {
        let mut runs = self.lock().in_order();
        // Outside of the lock: this reads the disk.
        runs.iter_mut().for_each(SessionRun::read_again);
        runs
    }

    /// Returns the ids of all runs.
    pub fn ids(&self) -> HashSet<RunId> {
        let state = self.lock();
        let ids = state.runs.iter().map(|run| run.run_id().clone());
        ids.collect()
    }

    /// Returns the background runs, in the order they were accepted.
    pub fn background(&self) -> Vec<RunRow> {
        let mut runs = self.lock().in_order();
        runs.retain(SessionRun::is_background);
        runs.into_iter().map(|run| run.row).collect()
    }

    /// Counts the background runs.
    pub fn background_counts(&self) -> Counts {
        let state = self.lock();
        let background = state.runs.iter().filter(|run| run.is_background());
        Counts::of(background.map(|run| run.row.report.status))
    }

    /// Takes over the runs of a session that pi has begun or opened; pi may report it twice.
    /// Returns the background runs whose end the session already has.
    pub fn open(&self, session: &StartedSession<'_>) -> KeptBackgroundRuns {
        let mut state = self.lock();
        // Runs under way have no entry yet; a second start must not lose them.
        if state.pi_session != session.id {
            *state = State::default();
        }
        session.id.clone_into(&mut state.pi_session);
        state.runs.retain(|run| !run.row.is_over());
        if session.is_new {
            return KeptBackgroundRuns::default();
        }
        for run in session.entries.iter().filter_map(run_of) {
            state.enter(&run);
        }
        let entries = session.entries.iter().filter_map(EndEntry::read);
        for run in entries.filter_map(|entry| SessionRun::of_entry(&Arc::new(entry))) {
            state.put(run);
        }
        let kept = KeptBackgroundRuns::read(session.entries);
        for row in &kept.rows {
            state.put(SessionRun::in_background(row.clone()));
        }
        let begun = session.entries.iter().filter_map(BeginEntry::read);
        for left in begun.filter_map(|begun| SessionRun::left(&begun)) {
            if state.run(left.run_id()).is_none() {
                state.put(left);
            }
        }
        state.drop_oldest_entries();
        kept
    }

    /// Forgets everything: pi has left the session.
    pub fn close(&self) {
        *self.lock() = State::default();
    }

    /// Takes in a run that has begun, if pi is still in the session that it belongs to.
    pub fn began(&self, pi_session: &str, task: &Task, at: Timestamp) {
        let mut state = self.lock();
        if state.pi_session == pi_session {
            state.put(SessionRun::under_way(task, at));
            state.drop_oldest_entries();
        }
    }

    /// Takes in the state of a run under way.
    pub fn changed(&self, run: &RunId, summary: &RunSummary) {
        if let Some(known) = self.lock().run(run) {
            known.row.report.take_figures(summary);
            known.row.report.status = summary.status();
        }
    }

    /// Takes in the end of a run.
    pub fn ended(&self, run: &RunId, entry: &Arc<EndEntry>) {
        let mut state = self.lock();
        if let Some(known) = state.run(run)
            && let Some(over) = SessionRun::of_entry(entry)
        {
            *known = over;
            state.drop_oldest_entries();
        }
    }

    /// Takes in the state of a background run. Returns whether pi is still in the session that the
    /// run belongs to.
    pub fn put_background(&self, pi_session: &str, row: &RunRow) -> bool {
        let mut state = self.lock();
        let is_here = state.pi_session == pi_session;
        if is_here {
            state.put(SessionRun::in_background(row.clone()));
        }
        is_here
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the run that an entry of any kind is about.
fn run_of(entry: &Value) -> Option<RunId> {
    RunId::parse(entry.get("data")?.get("runId")?.as_str()?).ok()
}
