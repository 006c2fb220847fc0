//! Resolves a call of the delegation family and opens its runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_configuration::{Asker, ResumeMode};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::SessionPolicy;

use super::attachments::with_files;
use super::earlier::find_earlier;
use super::task::{DelegateCall, Resume, TaskCall};
use crate::call::Opened;
use crate::open_run::{Conversation, EarlierSession, Opening};
use crate::resolve::{Asked, Family};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;

/// The order in which `delegate` looks for the definition of a task.
pub const ASKER: Asker = Asker::Delegation;

/// The traits of this family.
pub(super) const FAMILY: Family = Family {
    asker: ASKER,
    timeout: Some(Duration::from_mins(10)),
};

/// Resolves a call and opens its runs.
pub(super) fn open_runs(
    opening: &Opening<'_>,
    call: &DelegateCall,
) -> Result<Opened<()>, CommandError> {
    let caller = opening.resolver.caller;
    let earlier = find_earlier(&opening.owner.index, caller, &call.tasks)?;
    let asked = call
        .tasks
        .iter()
        .zip(&earlier)
        .map(|(task, earlier)| asked(task, call.profile.as_deref(), earlier.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let resolved = opening.resolver.resolve(&asked)?;
    let mut warnings = opening.resolver.warnings(&asked);
    let mut tasks = Vec::new();
    for (((call, earlier), asked), resolved) in
        call.tasks.iter().zip(&earlier).zip(&asked).zip(resolved)
    {
        let converse = |cwd: &Path, directory: Option<&RunDir>| {
            Ok(conversation(opening, (call, earlier), cwd, directory))
        };
        tasks.push(opening.open_run(asked, resolved, &mut warnings, converse)?);
    }
    Ok(Opened {
        tasks,
        warnings,
        notes: (),
    })
}

fn asked<'a>(
    call: &'a TaskCall,
    default_profile: Option<&'a str>,
    earlier: Option<&'a EarlierSession>,
) -> Result<Asked<'a>, CommandError> {
    // The place where a session goes on was decided when the session was found.
    let named = earlier.filter(|_| matches!(call.resume, Some(Resume::Named(_))));
    Ok(Asked {
        name: call.name.clone(),
        prompt: &call.prompt,
        session: match earlier {
            Some(earlier) => earlier.id().clone(),
            None => random::new_session_id()?,
        },
        definition: call.profile.as_deref().or(default_profile),
        model: None,
        cwd: call.cwd.as_deref().or(named.and_then(EarlierSession::cwd)),
        timeout: call.timeout,
        worktree: named.and_then(EarlierSession::worktree),
        terms: &call.terms,
    })
}

/// Puts together the prompt, with the earlier messages and with the files. Each run has a session
/// file of its own.
fn conversation(
    opening: &Opening<'_>,
    (call, earlier): (&TaskCall, &Option<Arc<EarlierSession>>),
    cwd: &Path,
    directory: Option<&RunDir>,
) -> Conversation {
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
    let (prompt, unread) = with_files(&call.files, cwd, &prompt);
    Conversation {
        warnings: missing.into_iter().chain(unread).collect(),
        prompt,
        session: directory.map_or(SessionPolicy::Nowhere, |directory| {
            SessionPolicy::File(directory.child_session())
        }),
    }
}
