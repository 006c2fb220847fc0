//! The runs an id stands for, as far as the caller may know of them.
//!
//! Most callers know all runs on this machine. Inside pi only those of pi's session are known;
//! some of them may have nothing left but the entry that pi kept.

use std::sync::Arc;

use pi_subagents_delegation::{Ending, RunHistory, RunId, SessionId};
use pi_subagents_sessions::{FindError, IndexedRun, Store, history};

use crate::places::Places;
use crate::runs::conversation::of_one_conversation;
use crate::runs::entries::Entry;
use crate::runs::find;
use crate::runs::memory::Memory;
use crate::runs::missing_record::LostRecord;
use crate::runs::owned::{current_runs, is_owned};

/// A session with all runs that are known of it.
pub(crate) struct KnownSession {
    pub(crate) id: SessionId,
    /// Oldest first.
    pub(crate) runs: Vec<KnownRun>,
    /// The one that was meant, if the id was that of a run.
    pub(crate) meant: Option<RunId>,
}

/// A run that can be read.
pub(crate) struct KnownRun {
    pub(crate) run: Option<RunId>,
    pub(crate) name: String,
    record: Option<IndexedRun>,
    entry: Option<Arc<Entry>>,
    is_under_way: bool,
}

/// Finds a session by its id, by the id of one of its runs, or by the beginning of either.
pub(crate) fn find_session(
    store: &Store,
    places: &Places,
    memory: Option<&Memory>,
    id: &str,
) -> Result<KnownSession, FindError> {
    match memory {
        None => {
            let (session, runs, meant) = find::find_session(store, places, id)?;
            let runs = runs.into_iter().map(KnownRun::recorded).collect();
            KnownSession::of(session, meant, runs)
        }
        Some(memory) => in_memory(store, memory, id),
    }
}

fn in_memory(store: &Store, memory: &Memory, id: &str) -> Result<KnownSession, FindError> {
    let meant = memory.find(id)?;
    let mut runs: Vec<KnownRun> = current_runs(store)?
        .into_iter()
        .filter(|run| run.session == meant.session)
        .map(KnownRun::recorded)
        .collect();
    // A run of which only pi knows stands behind the one that pi remembers before it.
    let mut place = 0;
    for remembered in memory.session(&meant.session) {
        let recorded = runs
            .iter()
            .position(|run| run.run.is_some() && run.run == remembered.run);
        match recorded {
            Some(at) => {
                runs[at].entry = remembered.entry;
                place = at + 1;
            }
            // What was dropped here and is not on disk has expired.
            None if remembered.entry.is_none() && remembered.status.is_over() => {}
            None => {
                let run = KnownRun {
                    run: remembered.run,
                    name: remembered.name,
                    record: None,
                    entry: remembered.entry,
                    is_under_way: !remembered.status.is_over(),
                };
                runs.insert(place, run);
                place += 1;
            }
        }
    }
    if runs.is_empty() {
        return Err(FindError::NotFound(id.to_owned()));
    }
    KnownSession::of(meant.session, meant.run, runs)
}

impl KnownSession {
    fn of(id: SessionId, meant: Option<RunId>, runs: Vec<KnownRun>) -> Result<Self, FindError> {
        let runs = of_one_conversation(runs, meant.as_ref(), KnownRun::record)?;
        Ok(Self { id, runs, meant })
    }

    /// Whether a run of it is under way.
    pub(crate) fn is_running(&self) -> bool {
        self.runs.iter().any(|run| run.is_under_way)
    }
}

impl KnownRun {
    fn recorded(record: IndexedRun) -> Self {
        Self {
            run: Some(record.run.clone()),
            name: record.name.clone(),
            is_under_way: record.is_open() && is_owned(&record),
            record: Some(record),
            entry: None,
        }
    }

    /// Its record, unless there is none.
    pub(crate) fn record(&self) -> Option<&IndexedRun> {
        self.record.as_ref()
    }

    /// What was said in it: from its directory, or from what pi kept of it.
    pub(crate) fn history(&self) -> Result<RunHistory, LostRecord> {
        let Some(record) = &self.record else {
            return Ok(self
                .entry
                .as_ref()
                .map(|entry| entry.history())
                .unwrap_or_default());
        };
        history(&record.directory).or_else(|error| match &self.entry {
            Some(entry) => Ok(entry.history()),
            None => Err(LostRecord::new(record, error)),
        })
    }

    /// Whether it is under way.
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// The exit code of the run whose history this is.
    pub(crate) fn exit_code(&self, history: &RunHistory) -> Option<i32> {
        let ending = history.summary.ending.as_ref()?;
        match (&self.record, &self.entry) {
            (None, Some(entry)) => Some(entry.exit_code()),
            (Some(_), _) | (None, None) => Some(Ending::exit_code(ending)),
        }
    }
}
