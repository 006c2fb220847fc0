//! A session that goes on: as it was and where it was, unless its caller wants it otherwise.

use std::path::{Path, PathBuf};

use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_vocabulary::{Place, RunHistory};

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::open_run::Inherited;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::known::{KnownRun, KnownSession};
use pi_subagents_runs::workspace::{EarlierWorktree, Workspace};

/// A session that goes on, and who asks for it.
pub(super) struct Continued {
    /// The caller, with the options that the session keeps.
    pub(super) caller: Caller,
    pub(super) session: KnownSession,
    /// The run after which it goes on.
    pub(super) latest: IndexedRun,
    /// The conversation of that run.
    pub(super) history: RunHistory,
    /// The terms that the next run inherits from the latest one.
    pub(super) inherited: Inherited,
    /// The agent of a sticky session.
    pub(super) agent: Option<String>,
    /// The definition that was used, if any.
    pub(super) definition: Option<String>,
}

impl Continued {
    /// Finds out how a session goes on.
    pub(super) fn of(session: KnownSession, mut caller: Caller) -> Result<Self, CommandError> {
        let LatestRun {
            run: latest,
            history,
            workspace,
        } = latest_of(&session)?.ok_or_else(|| {
            CommandError::not_found(format!("session {} has no runs", session.id))
        })?;
        let recorded = RecordedRun::read(&latest.directory).ok();
        let task = history.summary.task.clone();
        caller.overrides.cwd = if let Some(cwd) = caller.overrides.cwd {
            Some(caller.places.cwd.join(cwd))
        } else {
            let of_task = workspace.as_ref().map(Workspace::task_directory);
            caller.overrides.worktree = workspace.clone().and_then(EarlierWorktree::of);
            let cwd = of_task.or(task.as_ref().map(|task| task.cwd.clone()));
            cwd.map(|cwd| where_now(&cwd, &latest, recorded.as_ref()))
        };
        let definition = task.and_then(|task| Some(task.definition.as_ref()?.name.clone()));
        let inherited = Inherited::new(recorded.as_ref(), workspace);
        if latest.owner.fleet.is_some() {
            // It goes on where it was.
            let place = Place::Fleet { pool: None };
            caller.overrides.fleet.on.get_or_insert(place);
        }
        let agent = recorded.and_then(|run| run.sticky_agent);
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
}

/// The run after which a session goes on, read once.
struct LatestRun {
    run: IndexedRun,
    history: RunHistory,
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
