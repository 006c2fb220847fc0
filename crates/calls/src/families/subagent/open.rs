//! Resolves a call of the subagent family and opens its runs.

use std::collections::HashMap;
use std::path::Path;

use pi_subagents_configuration::Asker;
use pi_subagents_records::{RunDir, StickySession, Store, runs_of_session};
use pi_subagents_vocabulary::{Refusal, SessionId, SessionPolicy};

use super::schema::{AgentTask, SubagentCall};
use crate::call::Opened;
use crate::elsewhere::{NamedSession, bring_conversation};
use crate::open_run::{Conversation, Opening};
use crate::resolve::{Asked, Family, ResolvedTask};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;
use pi_subagents_runs::workspace::{EarlierWorktree, Workspace};

/// The order in which `run` and `spawn` look for the definition of a task.
pub const ASKER: Asker = Asker::Subagent;

/// The traits of this family.
pub(super) const FAMILY: Family = Family {
    asker: ASKER,
    timeout: None,
};

/// For each task, whether its caller named a session that did not exist yet.
pub(crate) type NamedNewSession = Vec<bool>;

/// Resolves a call and opens its runs.
pub(super) fn open_runs(
    opening: &Opening<'_>,
    call: &SubagentCall,
) -> Result<Opened<NamedNewSession>, CommandError> {
    let calls = call.tasks();
    let asked = names(calls)
        .into_iter()
        .zip(calls)
        .map(|(name, call)| asked(name, call, &opening.owner.store))
        .collect::<Result<Vec<_>, _>>()?;
    let resolved = opening.resolver.resolve(&asked)?;
    let home = &opening.resolver.caller.places.home;
    let sessions: Vec<_> = asked
        .iter()
        .zip(&resolved)
        .map(|(asked, resolved)| sticky_session(home, asked, resolved))
        .collect();
    check_apart(&sessions)?;
    let (sessions, about_sessions) = caught_up(opening, (calls, &asked), &resolved, sessions);
    let mut opened = Opened {
        tasks: Vec::new(),
        warnings: [opening.resolver.warnings(&asked), about_sessions].concat(),
        notes: NamedNewSession::new(),
    };
    for (((call, asked), resolved), session) in calls.iter().zip(&asked).zip(resolved).zip(sessions)
    {
        let is_known = matches!(&session, Some(Ok(session)) if session.is_known());
        let is_new = call.session.is_some() && resolved.work.is_ok() && !is_known;
        opened.notes.push(is_new);
        let planned = opening.open_run(asked, resolved, &mut opened.warnings, |_, directory| {
            converse(call, session, directory)
        })?;
        opened.tasks.push(planned);
    }
    Ok(opened)
}

fn asked<'a>(name: String, call: &'a AgentTask, store: &Store) -> Result<Asked<'a>, CommandError> {
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
        worktree: call
            .session
            .as_ref()
            .and_then(|session| worktree_of(store, session)),
        timeout: call.timeout,
        terms: &call.terms,
    })
}

/// Returns the worktree in which a session goes on, if its latest run had one.
fn worktree_of(store: &Store, session: &SessionId) -> Option<EarlierWorktree> {
    // A session that cannot be looked up begins anew, which its conversation says too.
    let runs = store.runs().ok()?;
    let latest = runs_of_session(&runs, session).pop()?;
    Workspace::read(latest.directory.path()).and_then(EarlierWorktree::of)
}

/// Names the runs of a call: each after its agent, and with its number in the call where several
/// have the same.
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

/// Returns where the conversation of a task is kept, unless the task is refused.
fn sticky_session(
    home: &Path,
    asked: &Asked<'_>,
    resolved: &ResolvedTask,
) -> Option<Result<StickySession, Refusal>> {
    resolved.work.as_ref().ok()?;
    let agent = &resolved.definition.as_ref()?.name;
    let session = StickySession::of(home, &resolved.cwd, agent, &asked.session);
    Some(session.map_err(|error| Refusal {
        message: format!("cwd cannot be used: {}: {error}", resolved.cwd.display()),
    }))
}

/// Refuses a call with two tasks that continue one conversation: it has one writer at a time.
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

/// The file in which the conversation of a task is kept; `None` for a task that is refused.
type Sticky = Option<Result<StickySession, Refusal>>;

/// Brings the conversations up to date that callers have named, and that may have gone on in a
/// fleet. Returns what a person should know about it.
fn caught_up(
    opening: &Opening<'_>,
    (calls, asked): (&[AgentTask], &[Asked<'_>]),
    resolved: &[ResolvedTask],
    sessions: Vec<Sticky>,
) -> (Vec<Sticky>, Vec<String>) {
    let places = &opening.resolver.caller.places;
    let settings = &opening.resolver.configuration.settings.fleet;
    let mut notes = Vec::new();
    let each = calls.iter().zip(asked).zip(resolved).zip(sessions);
    let sessions = each.map(|(((call, asked), resolved), session)| {
        let (Some(Ok(session)), Some(_)) = (&session, &call.session) else {
            return session;
        };
        let agent = &resolved.definition.as_ref()?.name;
        let named = NamedSession {
            session,
            cwd: &resolved.cwd,
            agent,
            id: &asked.session,
        };
        Some(match bring_conversation(places, settings, &named) {
            Ok(note) => {
                notes.extend(note);
                Ok(session.clone())
            }
            Err(refusal) => Err(refusal),
        })
    });
    let sessions = sessions.collect();
    (sessions, notes)
}

/// Makes the sticky file in which the child goes on, and which has the earlier messages.
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
