//! Starts the runs that somebody wants in `attach`: in the background, like `spawn`.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::tending::tend;
use std::process::Stdio;

use pi_subagents_configuration::Asker;
use pi_subagents_engine::KnownChildren;
use pi_subagents_records::{CallerName, IndexedRun, RecordedRun};
use pi_subagents_vocabulary::{Isolation, RunId, RunnerChoice};
use serde_json::{Value, json};
use tokio::process::Command;

use super::continued::Continued;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached::{Order, OrderedTool, WaitedCall, reap};
use pi_subagents_calls::families::background;
use pi_subagents_calls::start_from_screen::{PendingStart, StartedRun, Starter, WantedRun};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::own_commands::process;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::known::find_session;
use pi_subagents_runs::workspace::Workspace;
use pi_subagents_web::can_open;

/// Starts runs for a person at this place.
pub(super) struct BackgroundStarter {
    places: Places,
    name: CallerName,
}

impl BackgroundStarter {
    /// Makes a starter for a person who is called this in the records.
    pub(super) fn new(places: Places, name: CallerName) -> Self {
        Self { places, name }
    }
}

impl Starter for BackgroundStarter {
    fn definitions(&self) -> Vec<String> {
        let configuration = Configuration::read_once(&self.places, false);
        let definitions = configuration.catalogue.effective(Asker::Subagent);
        definitions
            .into_iter()
            .map(|definition| definition.name.clone())
            .collect()
    }

    fn start(&self, wanted: WantedRun) -> PendingStart {
        let caller = Caller {
            name: self.name.clone(),
            ..Caller::at(self.places.clone())
        };
        Box::pin(async move {
            match wanted {
                WantedRun::New { definition, prompt } => {
                    in_background(&definition, None, &prompt, &caller).await
                }
                WantedRun::Again { run, model } => {
                    let asked = move || asked_again(&run, model, caller);
                    let asked = tokio::task::spawn_blocking(asked).await;
                    let (arguments, caller) = asked.map_err(|error| lost(&error))??;
                    delegate(&arguments, &caller).await
                }
                WantedRun::Resumed { run, prompt } => {
                    let found = move || found(&run.run, caller);
                    let found = tokio::task::spawn_blocking(found).await;
                    let continued = found.map_err(|error| lost(&error))??;
                    resume(&continued, &prompt).await
                }
            }
        })
    }

    fn open_page(&self, run: &IndexedRun) -> Result<(), CommandError> {
        open_page(&run.run, &self.places)
    }
}

/// Starts a process that opens the page, and serves it unless one is served already. It is no part
/// of the terminal's foreground, so that closing the terminal does not end it.
fn open_page(run: &RunId, places: &Places) -> Result<(), CommandError> {
    if !can_open(places) {
        let problem = "there is no program here that opens a browser";
        return Err(CommandError::failed(problem)
            .hint("pi-subagents web prints an address for a browser on this machine."));
    }
    let mut command = Command::from(process(places, "web"));
    command
        .args([run.as_str(), "--open"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let known_children = children();
    let served = known_children
        .start(&mut command)
        .map_err(|error| CommandError::failed("the page could not be opened").because(&error))?;
    reap(served, known_children);
    Ok(())
}

/// Finds the session of a run, and how it goes on.
fn found(run: &RunId, caller: Caller) -> Result<Continued, CommandError> {
    let index = KnownIndex::of(&caller.places);
    tend(&index, &caller.places);
    let session = find_session(&index, &caller.places, None, run.as_str()).map_err(find_failure)?;
    Continued::of(session, caller)
}

/// Starts a run of a named sub-agent.
async fn in_background(
    definition: &str,
    session: Option<&str>,
    prompt: &str,
    caller: &Caller,
) -> Result<StartedRun, CommandError> {
    let arguments = json!({"preset": definition, "task": prompt, "sessionId": session});
    let spawned = background::spawn(&arguments, caller, &children()).await?;
    Ok(StartedRun {
        run: spawned.row.run_id,
        warnings: spawned.warnings,
    })
}

/// Continues a session: in the child's own session if there is one, else with a child that gets the
/// earlier messages in its prompt.
async fn resume(continued: &Continued, prompt: &str) -> Result<StartedRun, CommandError> {
    let Continued {
        caller,
        latest,
        agent,
        definition,
        ..
    } = continued;
    if let Some(agent) = agent {
        let session = latest.session.as_str();
        return in_background(agent, Some(session), prompt, caller).await;
    }
    let task = json!({
        "name": latest.name,
        "prompt": prompt,
        "profile": definition,
        "resume": latest.run.as_str(),
    });
    delegate(&json!({ "tasks": [task] }), caller).await
}

/// Returns the call that does the task of a run once more, and its caller, who wants this model.
fn asked_again(
    run: &IndexedRun,
    model: String,
    caller: Caller,
) -> Result<(Value, Caller), CommandError> {
    let record = RecordedRun::read(&run.directory).map_err(|error| lost(&error))?;
    let mut again = Caller {
        places: caller.places.seen_from(run.project.clone()),
        ..caller
    };
    again.overrides.model = Some(model);
    again.overrides.runner = record.runner.as_deref().and_then(RunnerChoice::from_word);
    // Its own worktree is gone or taken; a new run gets a new one.
    let workspace = Workspace::read(run.directory.path());
    let is_isolated = workspace.is_some_and(|workspace| workspace.worktree.is_some());
    if is_isolated {
        again.overrides.isolation = Some(Isolation::Worktree);
    } else {
        again.overrides.cwd = Some(record.task.cwd.clone());
    }
    let task = json!({
        "name": run.name,
        "prompt": record.task.prompt,
        "profile": run.preset,
    });
    Ok((json!({ "tasks": [task] }), again))
}

/// Starts a call of one task in the background.
async fn delegate(arguments: &Value, caller: &Caller) -> Result<StartedRun, CommandError> {
    let order = Order::of_call(OrderedTool::Delegate, arguments, caller, 1);
    // It goes on even if nobody waits for its answer.
    let call = WaitedCall::start(&order, &caller.places, &children()).await?;
    let begun = call.runs().first().map(|begun| RunId::parse(&begun.run));
    let Some(Ok(run)) = begun else {
        return Err(CommandError::failed("the background process began no run"));
    };
    Ok(StartedRun {
        run,
        warnings: Vec::new(),
    })
}

/// Returns the children of this process, which has no others.
fn children() -> KnownChildren {
    KnownChildren::spare_unknown()
}

fn lost(error: &dyn std::error::Error) -> CommandError {
    CommandError::failed("the session could not be read").because(error)
}
