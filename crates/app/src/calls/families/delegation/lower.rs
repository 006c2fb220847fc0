//! A call of the delegation family → a plan, with everything resolved.

use std::time::Duration;

use pi_subagents_definitions::Asker;
use pi_subagents_delegation::{Plan, SessionPolicy};
use pi_subagents_sessions::RunDir;

use super::attachments::with_files;
use super::earlier::{Earlier, find_earlier};
use super::schema::{DelegateCall, TaskCall};
use crate::calls::call::Lowered;
use crate::calls::lowering::{Asked, Conversation, Family, Lowering, Prepared};
use crate::error::CommandError;
use crate::random;

/// What is special about this family.
pub(super) const FAMILY: Family = Family {
    asker: Asker::Delegation,
    timeout: Some(Duration::from_mins(10)),
};

/// Makes a plan of a call.
pub(super) fn lower(
    lowering: &Lowering<'_>,
    call: &DelegateCall,
) -> Result<Lowered<()>, CommandError> {
    let earlier = find_earlier(&lowering.owner.store, lowering.caller, &call.tasks)?;
    let asked = call
        .tasks
        .iter()
        .zip(&earlier)
        .map(|(task, earlier)| asked(task, call.profile.as_deref(), earlier.as_ref()))
        .collect::<Result<Vec<_>, _>>()?;
    let prepared = lowering.prepare(&asked)?;
    let mut warnings = lowering.warnings(&asked);
    let mut tasks = Vec::new();
    for (((call, earlier), asked), prepared) in
        call.tasks.iter().zip(&earlier).zip(&asked).zip(prepared)
    {
        tasks.push(
            lowering.plan(asked, prepared, &mut warnings, |prepared, directory| {
                Ok(conversation(
                    lowering,
                    (call, earlier.as_ref()),
                    prepared,
                    directory,
                ))
            })?,
        );
    }
    Ok(Lowered {
        plan: Plan { tasks },
        warnings,
        notes: (),
    })
}

fn asked<'a>(
    call: &'a TaskCall,
    default_profile: Option<&'a str>,
    earlier: Option<&Earlier>,
) -> Result<Asked<'a>, CommandError> {
    Ok(Asked {
        name: call.name.clone(),
        prompt: &call.prompt,
        session: match earlier {
            Some(earlier) => earlier.session.clone(),
            None => random::new_session_id()?,
        },
        definition: call.profile.as_deref().or(default_profile),
        model: None,
        cwd: call.cwd.as_deref(),
        timeout: call.timeout(),
    })
}

/// The prompt with what was said before and with the files; each run has a session file of its
/// own.
fn conversation(
    lowering: &Lowering<'_>,
    (call, earlier): (&TaskCall, Option<&Earlier>),
    prepared: &Prepared,
    directory: Option<&RunDir>,
) -> Conversation {
    let mode = lowering.configuration.settings.resume;
    let (prompt, missing) = match earlier {
        Some(earlier) => earlier.prompt(&call.prompt, mode, directory),
        None => (call.prompt.clone(), None),
    };
    let (prompt, unread) = with_files(&call.files, &prepared.cwd, &prompt);
    Conversation {
        warnings: missing.into_iter().chain(unread).collect(),
        prompt,
        session: directory.map_or(SessionPolicy::Nowhere, |directory| {
            SessionPolicy::File(directory.child_session())
        }),
    }
}
