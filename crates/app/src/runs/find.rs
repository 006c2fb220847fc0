//! Finds recorded runs by what a person types.

use pi_subagents_delegation::{Ending, RunHistory, RunId, SessionId, Status};
use pi_subagents_sessions::{
    FindError, Found, IndexedRun, RunState, Store, find, history, runs_of_session,
};

use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::places::Places;
use crate::runs::conversation::{ask_which, of_one_conversation};
use crate::runs::owned::current_runs;

/// Says where ids are found.
pub(crate) const HOW_TO_LIST: &str = "pi-subagents status --all lists the runs of this project.";

/// Returns the runs that an id stands for, oldest first.
pub(crate) fn find_runs(
    store: &Store,
    places: &Places,
    id: &str,
) -> Result<Vec<IndexedRun>, FindError> {
    look_up(
        store,
        places,
        |runs| find(runs, id).map(Found::into_runs),
        |found| found.iter().any(is_lost),
    )
}

/// Returns the runs of each of several ids. The index is read once for all of them.
pub(crate) fn find_runs_of_each(
    store: &Store,
    places: &Places,
    ids: &[String],
) -> Result<Vec<Vec<IndexedRun>>, FindError> {
    let of_each = |runs: &[IndexedRun]| {
        ids.iter()
            .map(|id| find(runs, id).map(Found::into_runs))
            .collect::<Result<Vec<_>, _>>()
    };
    look_up(store, places, of_each, |found| {
        found.iter().flatten().any(is_lost)
    })
}

/// Returns the session of an id with all its runs, and the run if the id is that of a run.
pub(crate) fn find_session(
    store: &Store,
    places: &Places,
    id: &str,
) -> Result<(SessionId, Vec<IndexedRun>, Option<RunId>), FindError> {
    let with_session = |runs: &[IndexedRun]| {
        let found = find(runs, id)?;
        let session = found.session().clone();
        let of_session = runs_of_session(runs, &session);
        Ok((session, of_session, found.run().cloned()))
    };
    look_up(store, places, with_session, |(_, found, _)| {
        found.iter().any(is_lost)
    })
}

/// Looks among the runs of the index, which is read once. If a run is not there, or is not where
/// the index says, the runs directory of the project is searched too.
fn look_up<T>(
    store: &Store,
    places: &Places,
    find: impl Fn(&[IndexedRun]) -> Result<T, FindError>,
    lacks_some: impl Fn(&T) -> bool,
) -> Result<T, FindError> {
    let runs = current_runs(store)?;
    let found = find(&runs);
    let is_worth_a_look = match &found {
        Ok(found) => lacks_some(found),
        Err(error) => matches!(error, FindError::NotFound(_)),
    };
    if is_worth_a_look && has_entered_more(store, places, &runs) {
        return find(&store.runs()?);
    }
    found
}

fn is_lost(run: &IndexedRun) -> bool {
    !run.directory.path().exists()
}

/// Enters the runs of this project that the index does not know. Returns whether there were any.
pub(crate) fn has_entered_more(store: &Store, places: &Places, known: &[IndexedRun]) -> bool {
    let settings = Configuration::read_once(places, false).settings;
    let store = store.with_runs_dir(settings.runs_dir);
    store.reindex(places.real_project(), known) > 0
}

/// Returns the state of a run, as far as the index knows it.
pub(crate) fn status_of(run: &IndexedRun) -> Status {
    match run.state {
        RunState::Open => Status::Running,
        RunState::Over { status, .. } => status,
    }
}

/// Returns whether the run was refused because another run held its session. Such a run is no part
/// of the conversation.
pub(crate) fn was_kept_out(run: &RunHistory) -> bool {
    matches!(run.summary.ending, Some(Ending::SessionInUse { .. }))
}

/// Narrows the runs of an id to those that are still running. If none is, returns the latest run
/// that got hold of its session. Fails if the runs belong to different conversations.
pub(crate) fn current(mut runs: Vec<IndexedRun>) -> Result<Vec<IndexedRun>, FindError> {
    let is_running = runs.iter().any(IndexedRun::is_open);
    runs.retain(|run| run.is_open() == is_running);
    let mut runs = of_one_conversation(runs, None)?;
    if is_running {
        return Ok(runs);
    }
    let was_let_in =
        |run: &IndexedRun| !history(&run.directory).is_ok_and(|run| was_kept_out(&run));
    let latest = runs.iter().rposition(was_let_in);
    let latest = latest.or_else(|| runs.len().checked_sub(1));
    Ok(latest.map(|at| runs.swap_remove(at)).into_iter().collect())
}

/// Says how to go on with a run or a session that is over.
pub(crate) fn how_to_resume(id: &str) -> String {
    format!("Continue it with pi-subagents resume {id} PROMPT.")
}

impl From<FindError> for CommandError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NotFound(_) => Self::not_found(error.to_string()).hint(HOW_TO_LIST),
            FindError::Ambiguous { .. } => {
                Self::usage(error.to_string()).hint("Type more of the id.")
            }
            FindError::Shared { .. } => ask_which(error, RunId::to_string),
            FindError::Unreadable { .. } => {
                Self::failed("the index cannot be read").because(&error)
            }
        }
    }
}
