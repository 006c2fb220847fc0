//! Goes on with a session that is over: as it was and where it was, unless its caller wants it
//! otherwise.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_engine::KnownChildren;
use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_vocabulary::{Advice, Place, RunHistory};
use serde_json::json;

use super::background::{StartedRun, delegate_in_background, spawn};
use crate::caller::Caller;
use crate::families::delegation::DelegateCall;
use crate::families::subagent::SubagentCall;
use crate::open_run::{EarlierSession, Inherited};
use crate::request::{Continues, TaskRequest};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::conversation::MayBeRecorded as _;
use pi_subagents_runs::known_session::{KnownRun, KnownSession};
use pi_subagents_runs::workspace::{EarlierWorktree, Workspace};

/// A session that goes on, and who asks for it.
pub struct Resumption {
    /// The caller, with the options that the session keeps.
    pub caller: Caller,
    session: KnownSession,
    /// The run after which it goes on.
    latest: IndexedRun,
    /// The conversation of that run.
    history: RunHistory,
    /// The terms that the next run inherits from the latest one.
    inherited: Inherited,
    /// The agent of a sticky session.
    agent: Option<String>,
    /// The definition that was used, if any.
    definition: Option<String>,
}

/// The call by which a session goes on.
pub enum ResumedCall {
    /// The child continues its own session.
    Sticky(SubagentCall),
    /// A new child gets the earlier messages in its prompt.
    Retold(DelegateCall),
}

impl Resumption {
    /// Finds out how a session goes on. A session in which another process still works does not.
    pub fn of(session: KnownSession, mut caller: Caller) -> Result<Self, CommandError> {
        if session.is_running() {
            return Err(still_running(&session));
        }
        let LatestRun {
            run: latest,
            history,
            recorded,
            workspace,
        } = latest_of(&session)?.ok_or_else(|| {
            CommandError::not_found(format!("session {} has no runs", session.id))
        })?;
        let task = history.summary.task.clone();
        caller.overrides.cwd = if let Some(cwd) = caller.overrides.cwd {
            Some(caller.places.cwd.join(cwd))
        } else {
            let of_task = workspace.as_ref().map(Workspace::task_directory);
            caller.overrides.worktree = workspace.clone().and_then(EarlierWorktree::of);
            let cwd = of_task.or(task.as_ref().map(|task| task.cwd.clone()));
            cwd.map(|cwd| where_now(&cwd, &latest, recorded.as_deref()))
        };
        let definition = task.and_then(|task| Some(task.definition.as_ref()?.name.clone()));
        let inherited = Inherited::new(recorded.as_deref(), workspace);
        if latest.owner.fleet.is_some() {
            // It goes on where it was.
            let place = Place::Fleet { pool: None };
            caller.overrides.fleet.on.get_or_insert(place);
        }
        let agent = recorded.and_then(|run| run.sticky_agent.clone());
        if (agent.is_some() || definition.is_some()) && latest.project != caller.places.project {
            // It may be a definition of the project the session began in.
            caller.places.cwd.clone_from(&latest.project);
            caller.places.project.clone_from(&latest.project);
        }
        Ok(Self {
            caller,
            session,
            latest,
            history,
            inherited,
            agent,
            definition,
        })
    }

    /// Returns the call, for a door that waits for its answer.
    pub fn call(self, prompt: String) -> Result<ResumedCall, CommandError> {
        let Self {
            session,
            latest,
            history,
            inherited,
            agent,
            definition,
            caller: _,
        } = self;
        let name = latest.name;
        let earlier = EarlierSession::with_history(session, latest.run, history, inherited);
        let task = TaskRequest::new(name, prompt).continues(Continues::Found(Arc::new(earlier)));
        Ok(match (agent, definition) {
            (Some(agent), _) => ResumedCall::Sticky(SubagentCall::of(task.agent(agent))),
            (None, Some(definition)) => {
                ResumedCall::Retold(DelegateCall::new(vec![task.agent(definition)])?)
            }
            (None, None) => ResumedCall::Retold(DelegateCall::new(vec![task])?),
        })
    }

    /// Goes on in the background.
    pub async fn in_background(
        &self,
        prompt: &str,
        known_children: &KnownChildren,
    ) -> Result<StartedRun, CommandError> {
        if let Some(agent) = &self.agent {
            let session = self.latest.session.as_str();
            let arguments = json!({"preset": agent, "task": prompt, "sessionId": session});
            let spawned = spawn(&arguments, &self.caller, known_children).await?;
            return Ok(spawned.into());
        }
        let task = json!({
            "name": self.latest.name,
            "prompt": prompt,
            "profile": self.definition,
            "resume": self.latest.run.as_str(),
        });
        delegate_in_background(&task, &self.caller, known_children).await
    }
}

/// Refuses to go on with a session that another process is writing in, with advice.
fn still_running(session: &KnownSession) -> CommandError {
    let id = session.id.to_string();
    CommandError::failed(format!("session {id} is still running"))
        .advise("", Advice::Steer(id.clone()), " sends it a message now.")
        .advise(
            "",
            Advice::Wait(id),
            " waits for its end; then resume can continue it.",
        )
}

/// The run after which a session goes on, read once.
struct LatestRun {
    run: IndexedRun,
    history: RunHistory,
    recorded: Option<Arc<RecordedRun>>,
    workspace: Option<Workspace>,
}

/// Returns the directory of a run, also if its project was moved since.
fn where_now(cwd: &Path, run: &IndexedRun, recorded: Option<&RecordedRun>) -> PathBuf {
    let inside = recorded.and_then(|old| cwd.strip_prefix(&old.project).ok());
    match inside.map(|inside| run.project.join(inside)) {
        Some(moved) if !cwd.exists() && moved.is_dir() => moved,
        Some(_) | None => cwd.to_owned(),
    }
}

/// Returns the latest run that had a child, with its messages. A refused run does not count, nor
/// does a run whose record is gone. If no run had a child, this is the latest. If the id was that
/// of a run, only that run counts.
fn latest_of(session: &KnownSession) -> Result<Option<LatestRun>, CommandError> {
    let (mut latest, mut lost) = (None, None);
    let is_asked_for =
        |run: &&KnownRun| session.meant.as_ref().is_none_or(|meant| run.run == *meant);
    for run in session.runs.iter().filter(is_asked_for).rev() {
        let Some(record) = run.record() else { continue };
        let read = run.history_and_workspace();
        let read = read.map(|(history, workspace)| LatestRun {
            run: record.clone(),
            history,
            recorded: run.recorded(),
            workspace,
        });
        match read {
            Ok(read) if read.history.summary.started_at.is_some() => return Ok(Some(read)),
            Ok(read) => _ = latest.get_or_insert(read),
            Err(error) => _ = lost.get_or_insert(error),
        }
    }
    match (latest, lost) {
        (None, Some(lost)) => Err(lost.into()),
        (latest, _) => Ok(latest),
    }
}
