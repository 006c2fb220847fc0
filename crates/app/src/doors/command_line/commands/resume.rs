//! `resume`: goes on where a run or a session ended.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use pi_subagents_delegation::{RunHistory, RunnerChoice};
use pi_subagents_sessions::{IndexedRun, Prefers, RecordedRun, Store};

use crate::calls::caller::Overrides;
use crate::calls::families::delegation::{DelegateCall, Resume, TaskCall};
use crate::calls::families::subagent::{AgentTask, SubagentCall};
use crate::calls::open_run::EarlierSession;
use crate::configuration::Configuration;
use crate::doors::command_line::cli::{ConcurrencyArgs, RunArgs};
use crate::doors::command_line::commands::call::{answer_of, print};
use crate::doors::command_line::commands::delegate::caller;
use crate::doors::command_line::commands::words::joined;
use crate::error::CommandError;
use crate::print::Printer;
use crate::runs::ask_which::ask_which;
use crate::runs::known::{KnownRun, KnownSession};
use crate::runs::typed::TypedIds;

#[derive(Args)]
#[command(
    mut_arg("runner", |arg| arg.help("How the sub-agent runs [default: as it did in the session]")),
    mut_arg("model", |arg| arg.help("Model to use: an id, provider/id or a pattern, with a thinking level if you like, as in sonnet:high [default: the model of the session]")),
    mut_arg("cwd", |arg| arg.help("Directory in which the sub-agent works [default: the directory of the session]")),
    mut_arg("timeout", |arg| arg.help("Time limit in seconds. While its tools are still active, the sub-agent may run longer [default: the timeout of the definition; without one, 600 for a session of delegate, and no limit for one of run or spawn]"))
)]
pub(crate) struct ResumeArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or definition
    id: String,
    /// The prompt; several words are joined, and - reads it from stdin
    #[arg(required = true)]
    prompt: Vec<String>,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &ResumeArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let mut caller = caller(&args.run)?;
    let store = Store::new(&caller.places.agent_dir);
    let typed = TypedIds {
        store: &store,
        places: &caller.places,
        printer,
        prefers: Prefers::Newest,
    };
    let session = typed
        .conversation(&args.id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents resume {run} PROMPT")))?;
    if session.is_running() {
        return Err(still_running(&session));
    }
    let (latest, history) = latest_of(&session)?
        .ok_or_else(|| CommandError::not_found(format!("session {} has no runs", args.id)))?;
    let prompt = joined("prompt", &args.prompt)?;
    // A session goes on as it was and where it was, unless it is told otherwise.
    let recorded = RecordedRun::read(&latest.directory).ok();
    let task = history.summary.task.clone();
    caller.overrides.cwd = match caller.overrides.cwd {
        Some(cwd) => Some(caller.places.cwd.join(cwd)),
        None => task
            .as_ref()
            .map(|task| where_now(&task.cwd, &latest, recorded.as_ref())),
    };
    let definition = task.and_then(|task| Some(task.definition.as_ref()?.name.clone()));
    if definition.is_none()
        && let Some(recorded) = &recorded
    {
        keep_child(&mut caller.overrides, recorded);
    }
    let agent = recorded.and_then(|run| run.sticky_agent);
    if (agent.is_some() || definition.is_some()) && latest.project != caller.places.project {
        // It may be a definition of the project the session began in.
        caller.places.cwd.clone_from(&latest.project);
        caller.places.project.clone_from(&latest.project);
    }
    let alone = ConcurrencyArgs::default();
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let seen = (&caller, &configuration);
    let answer = if let Some(agent) = agent {
        answer_of(sticky(&latest, agent, prompt), seen, alone, printer)?
    } else {
        let earlier = EarlierSession::with_history(session, latest.run, history);
        let call = told(latest.name, Arc::new(earlier), definition, prompt)?;
        answer_of(call, seen, alone, printer)?
    };
    Ok(print(&answer, printer))
}

/// Refuses to go on with a session that somebody else is writing in, and says what can be done now.
fn still_running(session: &KnownSession) -> CommandError {
    let id = &session.id;
    CommandError::usage(format!("session {id} is still running"))
        .hint(format!(
            "pi-subagents steer {id} MESSAGE sends it a message now."
        ))
        .hint(format!(
            "pi-subagents wait {id} waits for its end; then resume can go on with it."
        ))
}

/// Keeps the model and the kind of child of a task without a definition: it had them from whoever
/// called.
fn keep_child(overrides: &mut Overrides, earlier: &RecordedRun) {
    let runner = earlier.runner.as_deref().and_then(RunnerChoice::from_word);
    overrides.runner = overrides.runner.or(runner);
    if overrides.model.is_none() {
        overrides.model.clone_from(&earlier.requested_model);
    }
}

/// Returns the directory of a run, also if its project was moved since.
fn where_now(cwd: &Path, run: &IndexedRun, recorded: Option<&RecordedRun>) -> PathBuf {
    let inside = recorded.and_then(|old| cwd.strip_prefix(&old.project).ok());
    match inside.map(|inside| run.project.join(inside)) {
        Some(moved) if !cwd.exists() && moved.is_dir() => moved,
        Some(_) | None => cwd.to_owned(),
    }
}

/// Returns the latest run that had a child, with what was said in it. A refused run says nothing
/// about how the session goes on, nor does a run whose record is gone. If no run had a child, this
/// is the latest. Where the id was that of a run, only that one counts.
fn latest_of(session: &KnownSession) -> Result<Option<(IndexedRun, RunHistory)>, CommandError> {
    let (mut latest, mut lost) = (None, None);
    let is_asked_for =
        |run: &&KnownRun| session.meant.as_ref().is_none_or(|meant| run.run == *meant);
    for run in session.runs.iter().filter(is_asked_for).rev() {
        let Some(record) = run.record() else { continue };
        match run.history() {
            Ok(said) if said.summary.started_at.is_some() => {
                return Ok(Some((record.clone(), said)));
            }
            Ok(said) => _ = latest.get_or_insert_with(|| (record.clone(), said)),
            Err(error) => _ = lost.get_or_insert(error),
        }
    }
    match (latest, lost) {
        (None, Some(lost)) => Err(lost.into()),
        (latest, _) => Ok(latest),
    }
}

/// Makes the call that goes on in the child's own session.
fn sticky(latest: &IndexedRun, agent: String, task: String) -> SubagentCall {
    SubagentCall::Single(AgentTask {
        agent,
        task,
        model: None,
        cwd: None,
        session: Some(latest.session.clone()),
        timeout: None,
    })
}

/// Makes the call whose child is told what was said.
fn told(
    name: String,
    earlier: Arc<EarlierSession>,
    profile: Option<String>,
    prompt: String,
) -> Result<DelegateCall, CommandError> {
    Ok(DelegateCall::new(vec![TaskCall {
        name,
        prompt,
        profile,
        resume: Some(Resume::Found(earlier)),
        ..TaskCall::default()
    }])?)
}
