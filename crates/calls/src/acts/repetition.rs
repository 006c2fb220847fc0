//! Does the task of a run once more, with another model.

use pi_subagents_engine::KnownChildren;
use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_vocabulary::{Isolation, RunnerChoice};
use serde_json::{Value, json};

use super::background::{StartedRun, delegate_in_background};
use crate::caller::Caller;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::workspace::Workspace;

/// A task that is done again, and who asks for it.
pub struct Repetition {
    task: Value,
    caller: Caller,
}

impl Repetition {
    /// Finds out how the task of a run is done again with this model.
    pub fn of(run: &IndexedRun, model: String, caller: Caller) -> Result<Self, CommandError> {
        let record = RecordedRun::read(&run.directory).map_err(|error| {
            CommandError::failed("the session could not be read").because(&error)
        })?;
        let mut caller = Caller {
            places: caller.places.seen_from(run.project.clone()),
            ..caller
        };
        caller.overrides.terms.model = Some(model);
        caller.overrides.terms.runner = record.runner.as_deref().and_then(RunnerChoice::from_word);
        // Its own worktree is gone or taken; a new run gets a new one.
        let workspace = Workspace::read(run.directory.path());
        let is_isolated = workspace.is_some_and(|workspace| workspace.worktree.is_some());
        if is_isolated {
            caller.overrides.terms.isolation = Some(Isolation::Worktree);
        } else {
            caller.overrides.cwd = Some(record.task.cwd.clone());
        }
        let mut task = json!({
            "name": run.name,
            "prompt": record.task.prompt,
            "profile": run.preset,
        });
        let sandbox = &record.task.sandbox;
        if !sandbox.is_off() {
            task["sandbox"] = json!(sandbox.level);
            task["network"] = json!(sandbox.network);
        }
        Ok(Self { task, caller })
    }

    /// Does it in the background.
    pub async fn in_background(
        &self,
        known_children: &KnownChildren,
    ) -> Result<StartedRun, CommandError> {
        delegate_in_background(&self.task, &self.caller, known_children).await
    }
}
