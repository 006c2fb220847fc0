//! Sessions that a task goes on with.

use std::collections::HashSet;
use std::io;

use pi_subagents_definitions::ResumeMode;
use pi_subagents_delegation::SessionId;
use pi_subagents_files::{create_new, open_own};
use pi_subagents_sessions::{FindError, RunDir, Store, transcript};

use super::retrieval::hint_at_all;
use super::schema::TaskCall;
use crate::calls::caller::Caller;
use crate::error::CommandError;
use crate::runs::conversation::ask_which;
use crate::runs::known::{self, KnownRun};
use crate::runs::missing_record::what_is_missing;

/// A session with the runs it has had.
pub(super) struct Earlier {
    pub(super) session: SessionId,
    runs: Vec<KnownRun>,
}

/// The session of each task that resumes one. A session that runs, or that two tasks want, fails
/// the call.
pub(super) fn find_earlier(
    store: &Store,
    caller: &Caller,
    tasks: &[TaskCall],
) -> Result<Vec<Option<Earlier>>, CommandError> {
    let mut taken = HashSet::new();
    let mut found = Vec::new();
    for task in tasks {
        let earlier = match &task.resume {
            None => None,
            Some(id) => Some(find_session(store, caller, id, &mut taken)?),
        };
        found.push(earlier);
    }
    Ok(found)
}

fn find_session(
    store: &Store,
    caller: &Caller,
    id: &str,
    taken: &mut HashSet<SessionId>,
) -> Result<Earlier, CommandError> {
    let found = match known::find_session(store, &caller.places, caller.memory.as_deref(), id) {
        Ok(found) => found,
        Err(FindError::NotFound(_)) => {
            let error = CommandError::not_found(format!(
                "Cannot resume: session \"{id}\" not found. The session may have expired or the ID is incorrect."
            ));
            return Err(hint_at_all(error, caller));
        }
        Err(error @ FindError::Ambiguous { .. }) => {
            return Err(
                CommandError::usage(format!("Cannot resume: {error}")).hint("Give more of the id.")
            );
        }
        Err(error @ FindError::Shared { .. }) => {
            return Err(ask_which(error, |run| format!("resume {run}")));
        }
        Err(error @ FindError::Unreadable { .. }) => {
            return Err(CommandError::failed("Cannot resume").because(&error));
        }
    };
    let is_running = found.is_running();
    let session = found.id;
    if is_running || !taken.insert(session.clone()) {
        return Err(CommandError::usage(format!(
            "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
        )));
    }
    Ok(Earlier {
        session,
        runs: found.runs,
    })
}

impl Earlier {
    /// The prompt of a run that goes on with this session, and what is missing in it.
    pub(super) fn prompt(
        &self,
        prompt: &str,
        mode: ResumeMode,
        directory: Option<&RunDir>,
    ) -> (String, Option<String>) {
        if mode == ResumeMode::Session && self.copy_child_session(directory) {
            return (prompt.to_owned(), None);
        }
        let (mut runs, mut lost) = (Vec::new(), Vec::new());
        for run in &self.runs {
            match run.history() {
                Ok(history) => runs.push(history),
                Err(error) => lost.push(error),
            }
        }
        let told = transcript::resumed_prompt(&transcript::for_resuming(&runs), prompt);
        let missing = what_is_missing(&lost);
        (
            told,
            missing
                .map(|missing| format!("{missing}; the sub-agent is not told what was said in it")),
        )
    }

    /// Gives the child a copy of the session file of the latest run, if there is one; the earlier
    /// run's record stays as it is.
    fn copy_child_session(&self, directory: Option<&RunDir>) -> bool {
        let latest = self.runs.last().and_then(KnownRun::record);
        let (Some(directory), Some(latest)) = (directory, latest) else {
            return false;
        };
        let copied = open_own(&latest.directory.child_session()).and_then(|mut earlier| {
            let mut copy = create_new(&directory.child_session())?;
            io::copy(&mut earlier, &mut copy)
        });
        copied.is_ok()
    }
}
