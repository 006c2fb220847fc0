//! Finds recorded runs by what a person types.

use pi_subagents_delegation::Status;
use pi_subagents_sessions::{FindError, Found, IndexedRun, RunState, Store};

use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::owner::close_abandoned;
use crate::places::Places;

/// Says where ids are found.
pub(crate) const HOW_TO_LIST: &str = "pi-subagents status --all lists the runs of this project.";

/// The runs an id stands for, oldest first.
pub(crate) fn find_runs(
    store: &Store,
    places: &Places,
    id: &str,
) -> Result<Vec<IndexedRun>, FindError> {
    find_recorded(store, places, id).map(Found::into_runs)
}

/// What an id stands for; what the index lost is found in its project's directory.
pub(crate) fn find_recorded(store: &Store, places: &Places, id: &str) -> Result<Found, FindError> {
    close_abandoned(store);
    let reindex = || {
        let settings = Configuration::read_once(places, false).settings;
        store
            .with_runs_dir(settings.runs_dir)
            .reindex(&places.project)
    };
    match store.find(id) {
        Err(FindError::NotFound(_)) if reindex().is_ok_and(|entered| entered > 0) => store.find(id),
        other => other,
    }
}

/// How a run stands, as far as the index knows.
pub(crate) fn status_of(run: &IndexedRun) -> Status {
    match run.state {
        RunState::Open => Status::Running,
        RunState::Over { status, .. } => status,
    }
}

/// Says how to go on with a run or a session that is over.
pub(crate) fn how_to_resume(id: &str) -> String {
    format!("pi-subagents resume {id} PROMPT goes on with it.")
}

impl From<FindError> for CommandError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NotFound(_) => Self::not_found(error.to_string()).hint(HOW_TO_LIST),
            FindError::Ambiguous { .. } => {
                Self::usage(error.to_string()).hint("Give more of the id.")
            }
            FindError::Unreadable { .. } => {
                Self::failed("the index cannot be read").because(&error)
            }
        }
    }
}
