//! Sessions that a task goes on with.

use std::collections::HashSet;
use std::fs;

use pi_subagents_definitions::ResumeMode;
use pi_subagents_delegation::SessionId;
use pi_subagents_sessions::{FindError, IndexedRun, RunDir, Store, history, transcript};

use super::schema::TaskCall;
use crate::error::CommandError;
use crate::owner::is_owned;
use crate::places::Places;
use crate::recorded::find_runs;

/// A session with the runs it has had.
pub(super) struct Earlier {
    pub(super) session: SessionId,
    runs: Vec<IndexedRun>,
}

/// The session of each task that resumes one. A session that runs, or that two tasks want, fails
/// the call.
pub(super) fn find_earlier(
    store: &Store,
    places: &Places,
    tasks: &[TaskCall],
) -> Result<Vec<Option<Earlier>>, CommandError> {
    let mut taken = HashSet::new();
    let mut found = Vec::new();
    for task in tasks {
        let earlier = match &task.resume {
            None => None,
            Some(id) => Some(find_session(store, places, id, &mut taken)?),
        };
        found.push(earlier);
    }
    Ok(found)
}

fn find_session(
    store: &Store,
    places: &Places,
    id: &str,
    taken: &mut HashSet<SessionId>,
) -> Result<Earlier, CommandError> {
    let not_found = || {
        CommandError::not_found(format!(
            "Cannot resume: session \"{id}\" not found. The session may have expired or the ID is incorrect."
        ))
        .hint("pi-subagents status --all lists the runs of this project.")
    };
    let session = match find_runs(store, places, id) {
        Ok(mut runs) => runs.pop().ok_or_else(not_found)?.session,
        Err(FindError::NotFound(_)) => return Err(not_found()),
        Err(error @ FindError::Ambiguous { .. }) => {
            return Err(
                CommandError::usage(format!("Cannot resume: {error}")).hint("Give more of the id.")
            );
        }
        Err(error @ FindError::Unreadable { .. }) => {
            return Err(CommandError::failed("Cannot resume").because(&error));
        }
    };
    let runs = store
        .session(&session)
        .map_err(|error| CommandError::failed("Cannot resume").because(&error))?;
    let is_running = runs.iter().any(|run| run.is_open() && is_owned(run));
    if is_running || !taken.insert(session.clone()) {
        return Err(CommandError::usage(format!(
            "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
        )));
    }
    Ok(Earlier { session, runs })
}

impl Earlier {
    /// The prompt of a run that goes on with this session.
    pub(super) fn prompt(
        &self,
        prompt: &str,
        mode: ResumeMode,
        directory: Option<&RunDir>,
    ) -> String {
        if mode == ResumeMode::Session && self.copy_child_session(directory) {
            return prompt.to_owned();
        }
        let runs: Vec<_> = self
            .runs
            .iter()
            .filter_map(|run| history(&run.directory).ok())
            .collect();
        transcript::resumed_prompt(&transcript::for_resuming(&runs), prompt)
    }

    /// Gives the child a copy of the session file of the latest run, if there is one; the earlier
    /// run's record stays as it is.
    fn copy_child_session(&self, directory: Option<&RunDir>) -> bool {
        let (Some(directory), Some(latest)) = (directory, self.runs.last()) else {
            return false;
        };
        fs::copy(latest.directory.child_session(), directory.child_session()).is_ok()
    }
}
