//! Finds the sessions that tasks go on with.

use std::collections::HashSet;
use std::sync::Arc;

use pi_subagents_records::FindError;
use pi_subagents_vocabulary::SessionId;

use super::retrieval::hint_at_all;
use crate::caller::Caller;
use crate::open_run::EarlierSession;
use crate::request::{Continues, TaskRequest};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::{ask_which, find_failure};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::known_session;
use pi_subagents_runs::owner_process::is_owned;
use pi_subagents_runs::upkeep::tend_records;

/// Returns the session of each task that resumes one. A session that still runs, or that two tasks
/// name, fails the call.
pub(super) fn find_earlier(
    index: &KnownIndex,
    caller: &Caller,
    tasks: &[TaskRequest],
) -> Result<Vec<Option<Arc<EarlierSession>>>, CommandError> {
    let is_named = |task: &TaskRequest| match task.continues {
        Some(Continues::Named(_) | Continues::Session(_)) => true,
        Some(Continues::Found(_)) | None => false,
    };
    if tasks.iter().any(is_named) {
        tend_records(index, &caller.places);
    }
    let mut taken = HashSet::new();
    let mut all = Vec::new();
    for task in tasks {
        let found = |id: &str| Ok::<_, CommandError>(Arc::new(find_session(index, caller, id)?));
        let earlier = match &task.continues {
            None => None,
            Some(Continues::Named(id)) => Some(found(id)?),
            Some(Continues::Session(id)) => Some(found(id.as_str())?),
            Some(Continues::Found(earlier)) => Some(Arc::clone(earlier)),
        };
        if let Some(earlier) = &earlier
            && (earlier.is_running() || !taken.insert(earlier.id().clone()))
        {
            return Err(still_running(earlier.id()));
        }
        all.push(earlier);
    }
    Ok(all)
}

/// Fails if a run has begun in one of these sessions since they were found.
pub(super) fn check_free(
    sessions: &[Option<Arc<EarlierSession>>],
    index: &KnownIndex,
) -> Result<(), CommandError> {
    if sessions.iter().all(Option::is_none) {
        return Ok(());
    }
    let runs = index.store().open_runs().map_err(find_failure)?;
    let is_in_use = |earlier: &&Arc<EarlierSession>| {
        let mut of_session = runs.iter().filter(|run| run.session == *earlier.id());
        of_session.any(is_owned)
    };
    match sessions.iter().flatten().find(is_in_use) {
        Some(earlier) => Err(still_running(earlier.id())),
        None => Ok(()),
    }
}

fn still_running(session: &SessionId) -> CommandError {
    CommandError::failed(format!(
        "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
    ))
}

fn find_session(
    index: &KnownIndex,
    caller: &Caller,
    id: &str,
) -> Result<EarlierSession, CommandError> {
    let session_runs = caller.session_runs.as_deref();
    match known_session::find_session(index, &caller.places, session_runs, id) {
        Ok(found) => Ok(EarlierSession::new(found)),
        Err(error) if error.is_absence() => {
            let error = CommandError::not_found(format!(
                "Cannot resume: session \"{id}\" not found. The session may have expired or the ID is incorrect."
            ));
            Err(hint_at_all(error, caller))
        }
        Err(error @ FindError::Ambiguous { .. }) => {
            Err(CommandError::usage(format!("Cannot resume: {error}")).hint("Type more of the id."))
        }
        Err(error @ FindError::Unreadable { .. }) => {
            Err(CommandError::failed("Cannot resume").because(&error))
        }
        Err(error) => Err(ask_which(&error, |run| format!("resume {run}"))),
    }
}
