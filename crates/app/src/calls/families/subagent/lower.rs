//! A call of the subagent family → a plan, with everything resolved.

use std::collections::HashMap;

use pi_subagents_definitions::Asker;
use pi_subagents_delegation::{Plan, Refusal, SessionPolicy};
use pi_subagents_sessions::{RunDir, StickySession};

use super::schema::{AgentTask, SubagentCall};
use crate::calls::call::Lowered;
use crate::calls::lowering::{Asked, Conversation, Family, Lowering, Prepared};
use crate::error::CommandError;
use crate::random;

/// What is special about this family.
pub(super) const FAMILY: Family = Family {
    asker: Asker::Subagent,
    timeout: None,
};

/// Of each task, whether its caller named a session that was not there.
pub(crate) type NamedNewSession = Vec<bool>;

/// Makes a plan of a call.
pub(super) fn lower(
    lowering: &Lowering<'_>,
    call: &SubagentCall,
) -> Result<Lowered<NamedNewSession>, CommandError> {
    let calls = call.tasks();
    let asked = names(calls)
        .into_iter()
        .zip(calls)
        .map(|(name, call)| asked(name, call))
        .collect::<Result<Vec<_>, _>>()?;
    let prepared = lowering.prepare(&asked)?;
    let sessions: Vec<_> = asked
        .iter()
        .zip(&prepared)
        .map(|(asked, prepared)| sticky_session(lowering, asked, prepared.as_ref().ok()?))
        .collect();
    check_apart(&sessions)?;
    let mut lowered = Lowered {
        plan: Plan { tasks: Vec::new() },
        warnings: lowering.warnings(&asked),
        notes: NamedNewSession::new(),
    };
    for (((call, asked), prepared), session) in calls.iter().zip(&asked).zip(prepared).zip(sessions)
    {
        let is_known = matches!(&session, Some(Ok(session)) if session.is_known());
        let is_new = call.session.is_some() && prepared.is_ok() && !is_known;
        lowered.notes.push(is_new);
        let planned = lowering.plan(asked, prepared, &mut lowered.warnings, |_, directory| {
            converse(call, session, directory)
        })?;
        lowered.plan.tasks.push(planned);
    }
    Ok(lowered)
}

fn asked(name: String, call: &AgentTask) -> Result<Asked<'_>, CommandError> {
    Ok(Asked {
        name,
        prompt: &call.task,
        session: match &call.session {
            Some(session) => session.clone(),
            None => random::new_session_id()?,
        },
        definition: Some(&call.agent),
        model: call.model.as_deref(),
        cwd: call.cwd.as_deref(),
        timeout: call.timeout,
    })
}

/// A run is called like its agent; where several are, each has its number in the call.
fn names(calls: &[AgentTask]) -> Vec<String> {
    let is_alone = |agent: &str| calls.iter().filter(|call| call.agent == agent).count() == 1;
    let calls = calls.iter().enumerate();
    calls
        .map(|(index, call)| match &call.agent {
            agent if is_alone(agent) => agent.clone(),
            agent => format!("{agent} {}", index + 1),
        })
        .collect()
}

/// Where the conversation of a task is kept.
fn sticky_session(
    lowering: &Lowering<'_>,
    asked: &Asked<'_>,
    prepared: &Prepared,
) -> Option<Result<StickySession, Refusal>> {
    let agent = &prepared.definition.as_ref()?.used.name;
    let home = &lowering.caller.places.home;
    let session = StickySession::of(home, &prepared.cwd, agent, &asked.session);
    Some(session.map_err(|error| Refusal {
        message: format!("cwd cannot be used: {}: {error}", prepared.cwd.display()),
    }))
}

/// Two tasks of a call must not continue one conversation: it has one writer at a time.
fn check_apart(sessions: &[Option<Result<StickySession, Refusal>>]) -> Result<(), CommandError> {
    let mut taken = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        let Some(Ok(session)) = session else {
            continue;
        };
        if let Some(earlier) = taken.insert(session, index) {
            return Err(CommandError::usage(format!(
                "tasks[{index}].sessionId is that of tasks[{earlier}], with the same preset and cwd: a session is continued by one task at a time"
            )));
        }
    }
    Ok(())
}

/// The child goes on in the sticky file, which knows what was said before.
fn converse(
    call: &AgentTask,
    session: Option<Result<StickySession, Refusal>>,
    directory: Option<&RunDir>,
) -> Result<Conversation, Refusal> {
    let session = session.unwrap_or_else(|| {
        Err(Refusal {
            message: "a conversation needs a definition it belongs to".to_owned(),
        })
    })?;
    let refuse = |error: std::io::Error| Refusal {
        message: format!(
            "the session file {} cannot be used: {error}",
            session.file().display()
        ),
    };
    session.make().map_err(refuse)?;
    if let Some(directory) = directory {
        session.link_from(directory).map_err(refuse)?;
    }
    Ok(Conversation {
        prompt: call.task.clone(),
        session: SessionPolicy::Shared {
            lock: session.lock(),
            file: session.file().to_owned(),
        },
        warnings: Vec::new(),
    })
}
