//! Resolves a call of the subagent family and opens its runs.

use std::collections::HashMap;
use std::path::Path;

use pi_subagents_configuration::{Asker, DEFAULT_AGENT};
use pi_subagents_records::{RunDir, StickySession, runs_of_session};
use pi_subagents_vocabulary::{Refusal, SessionId, SessionPolicy};

use super::schema::SubagentCall;
use crate::call::ResolvedCall;
use crate::elsewhere::{NamedSession, bring_conversation};
use crate::open_run::{ChildConversation, Inherited};
use crate::request::{Continues, TaskRequest};
use crate::resolve::{Family, RequestedTask, ResolvedTask, Resolver};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;
use pi_subagents_runs::known_index::KnownIndex;

/// The order in which `run` and `spawn` look for the definition of a task.
pub const ASKER: Asker = Asker::Subagent;

/// The traits of this family.
pub(super) const FAMILY: Family = Family {
    asker: ASKER,
    timeout: None,
};

/// For each task, whether its caller named a session that did not exist yet.
pub(crate) type NamedNewSession = Vec<bool>;

/// Resolves the tasks of a call, with the conversations that they continue.
pub(super) fn resolve(
    call: &SubagentCall,
    resolver: &Resolver<'_>,
    index: &KnownIndex,
) -> Result<ResolvedCall<SubagentCall>, CommandError> {
    let calls = call.tasks();
    let requested = names(calls)
        .into_iter()
        .zip(calls)
        .map(|(name, call)| requested(name, call, index))
        .collect::<Result<Vec<_>, _>>()?;
    let mut tasks = resolver.resolve(requested)?;
    let mut warnings = resolver.warnings(&tasks);
    let home = &resolver.caller.places.home;
    let sessions: Vec<_> = tasks
        .iter_mut()
        .map(|task| sticky_session(home, task))
        .collect();
    check_apart(&sessions)?;
    let mut notes = NamedNewSession::new();
    for ((call, task), session) in calls.iter().zip(&mut tasks).zip(&sessions) {
        if let (Some(session), Some(_)) = (session, &call.continues) {
            warnings.extend(caught_up(resolver, task, session));
        }
        let is_known = session.as_ref().is_some_and(StickySession::is_known);
        notes.push(call.continues.is_some() && task.work.is_ok() && !is_known);
    }
    Ok(ResolvedCall {
        tasks,
        sessions,
        warnings,
        notes,
    })
}

fn requested(
    name: String,
    task: &TaskRequest,
    index: &KnownIndex,
) -> Result<RequestedTask, CommandError> {
    let named = |id: &str| {
        let session = SessionId::parse(id);
        session.map_err(|error| CommandError::usage(format!("sessionId cannot be used: {error}")))
    };
    let (session, inherited) = match &task.continues {
        None => (random::new_session_id()?, None),
        Some(Continues::Found(earlier)) => {
            (earlier.id().clone(), Some(earlier.inherited().clone()))
        }
        Some(Continues::Session(session)) => (session.clone(), inherited_in(index, session)),
        Some(Continues::Named(id)) => {
            let session = named(id)?;
            let inherited = inherited_in(index, &session);
            (session, inherited)
        }
    };
    let agent = agent_of(task).to_owned();
    let mut request = TaskRequest {
        name,
        ..task.clone()
    };
    request.agent = Some(agent);
    Ok(RequestedTask {
        request,
        session,
        inherited,
    })
}

/// Returns the definition that does a task.
pub(super) fn agent_of(task: &TaskRequest) -> &str {
    task.agent_name().unwrap_or(DEFAULT_AGENT)
}

/// Returns what the next run of a session inherits, if it had runs.
fn inherited_in(index: &KnownIndex, session: &SessionId) -> Option<Inherited> {
    // A session that cannot be looked up begins anew, which its conversation says too.
    let runs = index.runs().ok()?;
    let latest = runs_of_session(&runs, session).pop()?;
    Some(Inherited::of(&latest))
}

/// Names the runs of a call: each after its agent, and with its number in the call where several
/// have the same.
fn names(calls: &[TaskRequest]) -> Vec<String> {
    let agents: Vec<&str> = calls.iter().map(agent_of).collect();
    let is_alone = |agent: &str| agents.iter().filter(|one| **one == agent).count() == 1;
    let agents = agents.iter().enumerate();
    agents
        .map(|(index, agent)| match *agent {
            agent if is_alone(agent) => agent.to_owned(),
            agent => format!("{agent} {}", index + 1),
        })
        .collect()
}

/// Returns where the conversation of a task is kept, unless the task is refused. A task for whose
/// conversation there is no place is refused.
fn sticky_session(home: &Path, task: &mut ResolvedTask) -> Option<StickySession> {
    task.work.as_ref().ok()?;
    let agent = &task.definition.as_ref()?.name;
    match StickySession::of(home, &task.cwd, agent, &task.session) {
        Ok(session) => Some(session),
        Err(error) => {
            task.work = Err(Refusal {
                message: format!("cwd cannot be used: {}: {error}", task.cwd.display()),
            });
            None
        }
    }
}

/// Refuses a call with two tasks that continue one conversation: it has one writer at a time.
fn check_apart(sessions: &[Option<StickySession>]) -> Result<(), CommandError> {
    let mut taken = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        let Some(session) = session else {
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

/// Brings a conversation up to date that its caller has named, and that may have gone on in a fleet.
/// Returns what a person should know about it; a task whose conversation cannot be had is refused.
fn caught_up(
    resolver: &Resolver<'_>,
    task: &mut ResolvedTask,
    session: &StickySession,
) -> Option<String> {
    let named = NamedSession {
        session,
        cwd: &task.cwd,
        agent: &task.definition.as_ref()?.name,
        id: &task.session,
    };
    let settings = &resolver.configuration.settings.fleet;
    match bring_conversation(&resolver.caller.places, settings, &named) {
        Ok(note) => note,
        Err(refusal) => {
            task.work = Err(refusal);
            None
        }
    }
}

/// Makes the sticky file in which the child goes on, and which has the earlier messages.
pub(super) fn converse(
    task: &TaskRequest,
    session: Option<&StickySession>,
    directory: Option<&RunDir>,
) -> Result<ChildConversation, Refusal> {
    let session = session.ok_or_else(|| Refusal {
        message: "a conversation needs an agent it belongs to".to_owned(),
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
    Ok(ChildConversation {
        prompt: task.prompt.clone(),
        session: SessionPolicy::Shared {
            lock: session.lock(),
            file: session.file().to_owned(),
        },
        warnings: Vec::new(),
    })
}
