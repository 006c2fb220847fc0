//! The runs of the session pi is in: those its entries tell of, and those under way.
//!
//! Inside pi an id is known if it is here. What was said in a run is read from its directory; the
//! entry is held only for runs that have none any more, and only of the newest sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_delegation::{RunId, RunSummary, SessionId, Status, Task, Timestamp};
use pi_subagents_sessions::{FindError, RecordedRun, RunDir};
use serde_json::Value;

use super::entries::{BegunRun, Entry};
use crate::runs::owned::is_alive;
use crate::runs::row::Row;

/// Of how many sessions the entries are held.
const MAX_SESSIONS: usize = 32;

/// Of how many runs of one session the entries are held.
const MAX_RUNS: usize = 10;

/// A session that pi has begun or opened.
pub(crate) struct StartedSession<'a> {
    /// Its id.
    pub(crate) id: &'a str,
    /// Whether nothing was said in it before.
    pub(crate) is_new: bool,
    /// The entries it holds, each `{customType, data}`, oldest first.
    pub(crate) entries: &'a [Value],
}

/// Whoever wants to hear of pi's sessions. The same session may begin twice.
pub(crate) trait SessionListener: Send + Sync {
    fn began(&self, session: &StartedSession<'_>);
    fn ended(&self);
}

/// What is known of the runs of pi's session.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pi_session: String,
    runs: Vec<Remembered>,
    /// In which order they were taken on, as far as they have ids.
    places: HashMap<RunId, usize>,
}

/// A run of pi's session.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    /// The first implementation gave no ids to runs.
    pub(crate) run: Option<RunId>,
    pub(crate) session: SessionId,
    pub(crate) name: String,
    pub(crate) status: Status,
    pub(crate) model: Option<String>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    /// What pi's session keeps of it, once it is over and unless it was dropped here.
    pub(crate) entry: Option<Arc<Entry>>,
    /// Where its record is, if nothing else knows how it stands: its host was killed.
    left_in: Option<RunDir>,
}

/// What an id stands for.
pub(crate) struct Meant {
    pub(crate) session: SessionId,
    /// The one run, if the id is that of a run.
    pub(crate) run: Option<RunId>,
}

impl Memory {
    /// What an id, or the unique beginning of one, stands for in pi's session.
    pub(crate) fn find(&self, prefix: &str) -> Result<Meant, FindError> {
        let state = self.lock();
        let ids = state.runs.iter().flat_map(|run| {
            let id_of_run = run.run.as_ref().map(RunId::as_str);
            [Some(run.session.as_str()), id_of_run]
                .into_iter()
                .flatten()
        });
        let mut fitting: Vec<&str> = ids
            .filter(|id| !prefix.is_empty() && id.starts_with(prefix))
            .collect();
        fitting.sort_unstable();
        fitting.dedup();
        let exact = fitting.iter().find(|id| **id == prefix).copied();
        let id = match (exact, fitting.as_slice()) {
            (Some(id), _) | (None, &[id]) => id,
            (None, []) => return Err(FindError::NotFound(prefix.to_owned())),
            (None, several) => {
                return Err(FindError::Ambiguous {
                    prefix: prefix.to_owned(),
                    candidates: several.iter().map(|id| (*id).to_owned()).collect(),
                });
            }
        };
        let of_session = state.runs.iter().find(|run| run.session.as_str() == id);
        let of_run = || {
            let is_it = |run: &&Remembered| run.run.as_ref().is_some_and(|one| one.as_str() == id);
            state.runs.iter().find(is_it)
        };
        let (session, run) = match of_session {
            Some(found) => (&found.session, None),
            None => match of_run() {
                Some(found) => (&found.session, found.run.clone()),
                None => return Err(FindError::NotFound(prefix.to_owned())),
            },
        };
        Ok(Meant {
            session: session.clone(),
            run,
        })
    }

    /// The runs of a session, oldest first.
    pub(crate) fn session(&self, session: &SessionId) -> Vec<Remembered> {
        let mut runs = self.all();
        runs.retain(|run| run.session == *session);
        runs
    }

    /// All runs, in the order they were taken on. Those without an id are of the first
    /// implementation, and so the oldest.
    pub(crate) fn all(&self) -> Vec<Remembered> {
        let mut runs = {
            let state = self.lock();
            let mut runs = state.runs.clone();
            runs.sort_by_key(|run| state.places.get(run.run.as_ref()?).copied());
            runs
        };
        runs.iter_mut().for_each(Remembered::look);
        runs
    }

    /// A run of a session of pi began.
    pub(crate) fn began(&self, pi_session: &str, task: &Task, at: Timestamp) {
        let mut state = self.lock();
        if state.pi_session == pi_session {
            state.enter(&task.run);
            state.runs.push(Remembered {
                run: Some(task.run.clone()),
                session: task.session.clone(),
                name: task.name.clone(),
                status: Status::Queued,
                model: None,
                started_at: Some(at),
                ended_at: None,
                entry: None,
                left_in: None,
            });
            state.drop_oldest();
        }
    }

    /// A background run of the session that pi is in has begun, or is over.
    pub(crate) fn know(&self, row: &Row) {
        let mut state = self.lock();
        let Some(news) = Remembered::in_background(row) else {
            return;
        };
        if let Some(run) = &news.run {
            state.enter(run);
        }
        let known = state.runs.iter_mut().find(|known| known.run == news.run);
        match known {
            Some(known) => *known = news,
            None => state.runs.push(news),
        }
    }

    /// Something is known of a run under way.
    pub(crate) fn changed(&self, run: &RunId, summary: &RunSummary) {
        let mut state = self.lock();
        if let Some(known) = state.run(run) {
            known.status = summary.status();
            known.model.clone_from(&summary.model);
            known.started_at = summary.started_at.or(known.started_at);
        }
    }

    /// A run is over.
    pub(crate) fn ended(&self, run: &RunId, entry: &Arc<Entry>) {
        let mut state = self.lock();
        if let Some(known) = state.run(run)
            && let Some(over) = Remembered::of(entry)
        {
            *known = over;
            state.drop_oldest();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionListener for Memory {
    fn began(&self, session: &StartedSession<'_>) {
        let mut state = self.lock();
        // Runs under way belong to no entry yet; a second start must not lose them.
        if state.pi_session != session.id {
            *state = State::default();
        }
        session.id.clone_into(&mut state.pi_session);
        state.runs.retain(|run| !run.status.is_over());
        if session.is_new {
            return;
        }
        for run in session.entries.iter().filter_map(run_of) {
            state.enter(&run);
        }
        let entries = session.entries.iter().filter_map(Entry::read);
        let mut runs: Vec<Remembered> = Vec::new();
        for run in entries.filter_map(|entry| Remembered::of(&Arc::new(entry))) {
            // The last entry of a run counts.
            runs.retain(|known| known.run.is_none() || known.run != run.run);
            runs.push(run);
        }
        runs.append(&mut state.runs);
        let begun = session.entries.iter().filter_map(BegunRun::read);
        for left in begun.filter_map(|begun| Remembered::left(&begun)) {
            if !runs.iter().any(|known| known.run == left.run) {
                runs.push(left);
            }
        }
        state.runs = runs;
        state.drop_oldest();
    }

    fn ended(&self) {
        *self.lock() = State::default();
    }
}

/// The run that an entry of any kind is about.
fn run_of(entry: &Value) -> Option<RunId> {
    RunId::parse(entry.get("data")?.get("runId")?.as_str()?).ok()
}

impl State {
    /// Gives a run its place, unless it has one.
    fn enter(&mut self, run: &RunId) {
        let next = self.places.len();
        self.places.entry(run.clone()).or_insert(next);
    }

    fn run(&mut self, run: &RunId) -> Option<&mut Remembered> {
        let mut runs = self.runs.iter_mut();
        runs.find(|known| known.run.as_ref() == Some(run))
    }

    /// Drops the entries that are too many, oldest first; the ids of runs that have a directory
    /// stay known.
    fn drop_oldest(&mut self) {
        // How many runs of each session that is kept have been seen; a running one always is.
        let mut kept: HashMap<SessionId, usize> = self
            .runs
            .iter()
            .filter(|run| !run.status.is_over())
            .map(|run| (run.session.clone(), 0))
            .collect();
        let most = MAX_SESSIONS.max(kept.len());
        for run in self.runs.iter_mut().rev() {
            if kept.len() < most {
                kept.entry(run.session.clone()).or_default();
            }
            let is_kept = kept.get_mut(&run.session).is_some_and(|runs| {
                *runs += 1;
                *runs <= MAX_RUNS
            });
            if !is_kept {
                run.entry = None;
            }
        }
        self.runs
            .retain(|run| run.run.is_some() || run.entry.is_some());
    }
}

impl Remembered {
    /// Its entry is the registry's.
    fn in_background(row: &Row) -> Option<Self> {
        Some(Self {
            run: Some(RunId::parse(&row.run_id).ok()?),
            session: SessionId::parse(&row.session_id).ok()?,
            name: row.name.clone(),
            status: row.status.into(),
            model: row.resolved_model.as_deref().map(without_provider),
            started_at: row.accepted_at.parse().ok(),
            ended_at: row.end.as_ref().and_then(|end| end.ended_at.parse().ok()),
            entry: None,
            left_in: None,
        })
    }

    /// A run that has begun, and of whose end pi's session does not know.
    fn left(begun: &BegunRun) -> Option<Self> {
        Some(Self {
            run: Some(begun.run()?),
            session: begun.session()?,
            name: begun.task_name.clone(),
            status: Status::Aborted,
            model: None,
            started_at: begun.accepted_at(),
            ended_at: None,
            entry: None,
            left_in: Some(begun.directory()),
        })
    }

    /// Reads again how a run stands that nobody tells us of: another pi may be at it.
    fn look(&mut self) {
        let record = self.left_in.as_ref().map(RecordedRun::read);
        let Some(Ok(record)) = record else { return };
        let is_running = record.end.is_none() && is_alive(&record.owner, record.accepted_at);
        if let Some(mut now) = Self::in_background(&Row::of(&record)) {
            if record.end.is_none() && !is_running {
                now.status = Status::Aborted;
            }
            now.left_in = self.left_in.take();
            *self = now;
        }
    }

    fn of(entry: &Arc<Entry>) -> Option<Self> {
        Some(Self {
            run: entry.run(),
            session: entry.session()?,
            name: entry.name().to_owned(),
            status: entry.status(),
            model: entry.model().map(str::to_owned),
            started_at: entry.started_at(),
            ended_at: entry.ended_at(),
            entry: Some(Arc::clone(entry)),
            left_in: None,
        })
    }
}

/// The model as the entries of other runs name it.
fn without_provider(model: &str) -> String {
    let id = model.split_once('/').map_or(model, |(_, id)| id);
    id.to_owned()
}
