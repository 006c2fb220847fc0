//! The runs of an id, as far as the caller may know of them.
//!
//! Most callers know all runs on this machine. Inside pi only the runs of pi's session are known;
//! some of them may have nothing left but the entry that pi kept.

use std::sync::{Arc, OnceLock};

use pi_subagents_records::{
    FindError, Finder, IndexedRun, Prefers, RecordedRun, RunDir, RunIds, history, history_of,
};
use pi_subagents_vocabulary::{Ending, HeldMessages, RunHistory, RunId, SessionId};

use crate::conversation::{MayBeRecorded, of_one_conversation};
use crate::entries::EndEntry;
use crate::find::{self, newest_of};
use crate::known_index::KnownIndex;
use crate::missing_record::LostRecord;
use crate::owner_process::is_owned;
use crate::session_runs::{SessionRun, SessionRuns};
use crate::workspace::Workspace;
use pi_subagents_ground::places::Places;

/// A session with all its known runs.
pub struct KnownSession {
    pub id: SessionId,
    /// Oldest first.
    pub runs: Vec<KnownRun>,
    /// The run that was meant, if the id was that of a run.
    pub meant: Option<RunId>,
}

/// A run that can be read. The files of its record are read when they are needed, and only once;
/// its events are read by each call of [`KnownRun::history`].
pub struct KnownRun {
    pub run: RunId,
    session: SessionId,
    pub name: String,
    record: Option<IndexedRun>,
    entry: Option<Arc<EndEntry>>,
    is_under_way: bool,
    /// Its task and its end, which are read at most once; `None` if they cannot be read.
    recorded: OnceLock<Option<Arc<RecordedRun>>>,
    /// Its worktree, which is read at most once.
    workspace: OnceLock<Option<Workspace>>,
}

/// Finds the session that a word means. Inside pi only the runs of its session are known.
pub fn find_session(
    index: &KnownIndex,
    places: &Places,
    session_runs: Option<&SessionRuns>,
    id: &str,
) -> Result<KnownSession, FindError> {
    match session_runs {
        None => {
            let (session, runs, meant) = find::find_session(index, places, newest_of(places), id)?;
            KnownSession::recorded(session, runs, meant)
        }
        Some(session_runs) => find_in_pi(index, session_runs, id),
    }
}

fn find_in_pi(
    index: &KnownIndex,
    session_runs: &SessionRuns,
    id: &str,
) -> Result<KnownSession, FindError> {
    let found = session_runs.find(id, Prefers::Newest)?;
    let mut runs: Vec<KnownRun> = index
        .candidates(Finder::GIVEN, &[found.session().as_str()])?
        .iter()
        .filter(|run| run.session == *found.session())
        .cloned()
        .map(KnownRun::recorded)
        .collect();
    // A run that only pi knows comes behind the run that pi remembers before it.
    let mut place = 0;
    for remembered in session_runs.session(found.session()) {
        let recorded = runs.iter().position(|run| run.run == *remembered.run_id());
        match recorded {
            Some(at) => {
                runs[at].entry = remembered.entry;
                place = at + 1;
            }
            // The entry was dropped and nothing is on disk: the run has expired.
            None if remembered.entry.is_none() && remembered.row.is_over() => {}
            None => {
                runs.insert(place, KnownRun::remembered(remembered));
                place += 1;
            }
        }
    }
    if runs.is_empty() {
        return Err(FindError::NotFound {
            id: id.to_owned(),
            nearest: None,
            unasked: None,
        });
    }
    KnownSession::of(found.session().clone(), found.run().cloned(), runs)
}

impl KnownSession {
    /// Returns a session with these runs of the index; fails if they belong to several
    /// conversations and none of them is meant.
    pub(crate) fn recorded(
        id: SessionId,
        runs: Vec<IndexedRun>,
        meant: Option<RunId>,
    ) -> Result<Self, FindError> {
        let runs = runs.into_iter().map(KnownRun::recorded).collect();
        Self::of(id, meant, runs)
    }

    fn of(id: SessionId, meant: Option<RunId>, runs: Vec<KnownRun>) -> Result<Self, FindError> {
        let runs = of_one_conversation(runs, meant.as_ref())?;
        Ok(Self { id, runs, meant })
    }

    /// Returns whether one of its runs is under way.
    pub fn is_running(&self) -> bool {
        self.runs.iter().any(|run| run.is_under_way)
    }
}

impl KnownRun {
    fn recorded(record: IndexedRun) -> Self {
        Self {
            run: record.run.clone(),
            session: record.session.clone(),
            name: record.name.clone(),
            is_under_way: record.is_open() && is_owned(&record),
            record: Some(record),
            entry: None,
            recorded: OnceLock::new(),
            workspace: OnceLock::new(),
        }
    }

    fn remembered(remembered: SessionRun) -> Self {
        Self {
            run: remembered.row.report.run_id,
            session: remembered.row.report.session_id,
            name: remembered.row.report.name,
            record: None,
            entry: remembered.entry,
            is_under_way: !remembered.row.report.status.is_over(),
            recorded: OnceLock::new(),
            workspace: OnceLock::new(),
        }
    }

    /// Returns its line in the index, if there is one.
    pub fn record(&self) -> Option<&IndexedRun> {
        self.record.as_ref()
    }

    /// Reads its messages from its directory, or else from the entry that pi kept.
    pub fn history(&self, held: HeldMessages) -> Result<RunHistory, LostRecord> {
        Ok(self.read(held)?.0)
    }

    /// Does the same, and returns the worktree that was read with it, if the run had one.
    pub fn history_and_workspace(&self) -> Result<(RunHistory, Option<Workspace>), LostRecord> {
        self.read(HeldMessages::Newest)
    }

    fn read(&self, held: HeldMessages) -> Result<(RunHistory, Option<Workspace>), LostRecord> {
        let Some(record) = &self.record else {
            let history = self.entry.as_ref().map(|entry| entry.history());
            return Ok((history.unwrap_or_default(), None));
        };
        let read = match self.recorded() {
            Some(run) => history_of(&run, held),
            None => history(&record.directory, held),
        };
        match (read, &self.entry) {
            (Ok(history), _) => {
                let workspace = self.workspace();
                Ok((with_worktree(history, workspace), workspace.cloned()))
            }
            (Err(_), Some(entry)) => Ok((entry.history(), None)),
            (Err(error), None) => Err(LostRecord::new(record, error)),
        }
    }

    /// Returns its worktree, if it had one that can be read.
    pub fn workspace(&self) -> Option<&Workspace> {
        let read = || Workspace::read(self.record.as_ref()?.directory.path());
        self.workspace.get_or_init(read).as_ref()
    }

    /// Returns whether it is under way.
    pub fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Returns the exit code of the run whose history this is.
    pub fn exit_code(&self, history: &RunHistory) -> Option<i32> {
        let ending = history.summary.ending.as_ref()?;
        match (&self.record, &self.entry) {
            (None, Some(entry)) => Some(entry.exit_code()),
            (Some(_), _) | (None, None) => Some(Ending::exit_code(ending)),
        }
    }
}

/// Puts the files that git found into the receipt of a run that had a worktree of its own.
fn with_worktree(mut history: RunHistory, workspace: Option<&Workspace>) -> RunHistory {
    if let Some(paths) = workspace.and_then(Workspace::changed_paths) {
        history.summary.witness.take_worktree(paths);
    }
    history
}

impl RunIds for KnownRun {
    fn run_id(&self) -> &RunId {
        &self.run
    }

    fn session_id(&self) -> &SessionId {
        &self.session
    }
}

impl MayBeRecorded for KnownRun {
    fn task_name(&self) -> &str {
        &self.name
    }

    fn record_directory(&self) -> Option<RunDir> {
        self.record.as_ref().map(|record| record.directory.clone())
    }

    fn recorded(&self) -> Option<Arc<RecordedRun>> {
        let read = || {
            let record = self.record.as_ref()?;
            RecordedRun::read(&record.directory).ok().map(Arc::new)
        };
        self.recorded.get_or_init(read).clone()
    }
}
