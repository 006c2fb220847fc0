//! Resolves a call of the delegation family and opens its runs.

use std::time::Duration;

use pi_subagents_configuration::{Asker, ResumeMode};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{Refusal, SessionPolicy};

use super::attachments::{missing_file, with_files};
use super::earlier_sessions::find_earlier;
use super::schema::DelegateCall;
use crate::call::{OpenedRun, ResolvedCall};
use crate::destination::Destination;
use crate::first_requests::FirstRequest;
use crate::open_run::{ChildConversation, EarlierSession, Opening};
use crate::request::{Continues, TaskRequest};
use crate::resolve::{Family, RequestedTask, ResolvedTask, Resolver};
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
    let requested = call
        .tasks
        .iter()
        .zip(&sessions)
        .map(|(task, earlier)| requested(task, call.profile.as_deref(), earlier.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut tasks = resolver.resolve(requested)?;
    for (task, call) in tasks.iter_mut().zip(&call.tasks) {
        if task.work.is_ok()
            && let Some(message) = missing_file(&call.files, &task.cwd)
        {
            // An answer without the file would be paid for and would be about something else.
            task.work = Err(Refusal { message });
        }
    }
    Ok(ResolvedCall {
        warnings: resolver.warnings(&tasks),
        tasks,
        sessions,
        notes: (),
    })
}

fn requested(
    task: &TaskRequest,
    default_profile: Option<&str>,
    earlier: Option<&EarlierSession>,
) -> Result<RequestedTask, CommandError> {
    let inherited = earlier.map(EarlierSession::inherited);
    // The place where a session goes on was decided when the session was found.
    let is_found = matches!(task.continues, Some(Continues::Found(_)));
    let named = inherited.filter(|_| !is_found);
    let mut request = task.clone();
    request.agent = request.agent.or(default_profile.map(str::to_owned));
    request.cwd = request
        .cwd
        .or_else(|| named.and_then(|named| named.cwd.clone()));
    Ok(RequestedTask {
        request,
        session: match earlier {
            Some(earlier) => earlier.id().clone(),
            None => random::new_session_id()?,
        },
        inherited: inherited.cloned(),
    })
}

/// Returns what the first request of a task sends: its prompt with the files, and the conversation
/// that it continues.
pub(super) fn first_request(
    resolver: &Resolver<'_>,
    earlier: Option<&EarlierSession>,
    task: &ResolvedTask,
) -> FirstRequest {
    let ResolvedTask { request, cwd, .. } = task;
    let (prompt, _) = with_files(&request.files, cwd, &request.prompt);
    let mode = resume_mode(resolver);
    FirstRequest {
        earlier: earlier.and_then(|earlier| earlier.part_of_request(mode)),
        ..FirstRequest::of(&prompt)
    }
}

/// Returns how a conversation continues.
fn resume_mode(resolver: &Resolver<'_>) -> ResumeMode {
    match resolver.destination {
        Destination::Here => resolver.configuration.settings.resume,
        // Session files stay where they are.
        Destination::Fleet(_) => ResumeMode::Transcript,
    }
}

/// Puts together the prompt, with the earlier messages and with the files. Each run has a session
/// file of its own.
pub(super) fn conversation(
    opening: &Opening<'_>,
    task: &TaskRequest,
    earlier: Option<&EarlierSession>,
    beginning: &OpenedRun<'_>,
) -> ChildConversation {
    let directory = beginning.directory;
    let mode = resume_mode(&opening.resolver);
    let (prompt, missing) = match earlier {
        Some(earlier) => earlier.prepare_prompt(&task.prompt, mode, directory),
        None => (task.prompt.clone(), None),
    };
    let (prompt, unread) = with_files(&task.files, beginning.cwd, &prompt);
    ChildConversation {
        warnings: missing.into_iter().chain(unread).collect(),
        prompt,
        session: directory.map_or(SessionPolicy::Nowhere, |directory: &RunDir| {
            SessionPolicy::File(directory.child_session())
        }),
    }
}
