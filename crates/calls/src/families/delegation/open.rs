//! Resolves a call of the delegation family and opens its runs.

use std::time::Duration;

use pi_subagents_configuration::{Asker, ResumeMode};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::SessionPolicy;

use super::attachments::with_files;
use super::earlier::find_earlier;
use super::task::{DelegateCall, Resume, TaskCall};
use crate::call::{OpenedRun, ResolvedCall};
use crate::open_run::{Conversation, EarlierSession, Opening};
use crate::resolve::{Asked, Family, Resolver};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;
use pi_subagents_runs::known_index::KnownIndex;

/// The order in which `delegate` looks for the definition of a task.
pub const ASKER: Asker = Asker::Delegation;

/// The traits of this family.
pub(super) const FAMILY: Family = Family {
    asker: ASKER,
    timeout: Some(Duration::from_mins(10)),
};

/// Resolves the tasks of a call. A session that still runs fails the call.
pub(super) fn resolve(
    call: &DelegateCall,
    resolver: &Resolver<'_>,
    index: &KnownIndex,
) -> Result<ResolvedCall<DelegateCall>, CommandError> {
    let sessions = find_earlier(index, resolver.caller, &call.tasks)?;
    let asked = call
        .tasks
        .iter()
        .zip(&sessions)
        .map(|(task, earlier)| asked(task, call.profile.as_deref(), earlier.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let tasks = resolver.resolve(asked)?;
    Ok(ResolvedCall {
        warnings: resolver.warnings(&tasks),
        tasks,
        sessions,
        notes: (),
    })
}

fn asked(
    call: &TaskCall,
    default_profile: Option<&str>,
    earlier: Option<&EarlierSession>,
) -> Result<Asked, CommandError> {
    let inherited = earlier.map(EarlierSession::inherited);
    // The place where a session goes on was decided when the session was found.
    let named = inherited.filter(|_| matches!(call.resume, Some(Resume::Named(_))));
    Ok(Asked {
        name: call.name.clone(),
        prompt: call.prompt.clone(),
        session: match earlier {
            Some(earlier) => earlier.id().clone(),
            None => random::new_session_id()?,
        },
        definition: call
            .profile
            .as_deref()
            .or(default_profile)
            .map(str::to_owned),
        model: None,
        cwd: call
            .cwd
            .clone()
            .or_else(|| named.and_then(|named| named.cwd.clone())),
        timeout: call.timeout,
        inherited: inherited.cloned(),
        terms: call.terms.clone(),
    })
}

/// Puts together the prompt, with the earlier messages and with the files. Each run has a session
/// file of its own.
pub(super) fn conversation(
    opening: &Opening<'_>,
    call: &TaskCall,
    earlier: Option<&EarlierSession>,
    beginning: &OpenedRun<'_>,
) -> Conversation {
    let directory = beginning.directory;
    let mode = if opening.is_for_fleet() {
        // Session files stay where they are.
        ResumeMode::Transcript
    } else {
        opening.resolver.configuration.settings.resume
    };
    let (prompt, missing) = match earlier {
        Some(earlier) => earlier.prepare_prompt(&call.prompt, mode, directory),
        None => (call.prompt.clone(), None),
    };
    let (prompt, unread) = with_files(&call.files, beginning.cwd, &prompt);
    Conversation {
        warnings: missing.into_iter().chain(unread).collect(),
        prompt,
        session: directory.map_or(SessionPolicy::Nowhere, |directory: &RunDir| {
            SessionPolicy::File(directory.child_session())
        }),
    }
}
