//! Runs that are started from a screen: in the background, so that leaving the screen stops nothing.

use pi_subagents_configuration::Asker;
use pi_subagents_engine::KnownChildren;
use pi_subagents_records::{CallerName, IndexedRun};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::acts::{Repetition, Resumption, StartedRun, spawn};
use crate::caller::Caller;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::known_session::find_session;
use pi_subagents_runs::upkeep::tend;
use pi_subagents_runs::workspace::EarlierWorktree;

/// A run that somebody wants.
#[derive(Debug, Clone, PartialEq)]
pub enum WantedRun {
    /// A new run with this definition.
    New { definition: String, prompt: String },
    /// A new run does the task of another one with this model.
    Again { run: Box<IndexedRun>, model: String },
    /// A finished run goes on.
    Resumed {
        run: Box<IndexedRun>,
        prompt: String,
    },
    /// A finished run goes on in its worktree, into which another state is merged first.
    Returned {
        run: Box<IndexedRun>,
        prompt: String,
        worktree: Box<EarlierWorktree>,
    },
}

/// Starts runs for a person at a screen, or for somebody who acts as one does.
#[derive(Debug, Clone)]
pub struct ScreenStarter {
    caller: Caller,
    known_children: KnownChildren,
}

impl ScreenStarter {
    /// Makes a starter for a person who is called this in the records.
    pub fn new(places: Places, name: CallerName) -> Self {
        let caller = Caller {
            name,
            ..Caller::at(places)
        };
        // The process of a screen has no children that it would have to spare from these.
        Self::of(caller, KnownChildren::spare_unknown())
    }

    /// Makes a starter for a caller, in a process with these children.
    pub fn of(caller: Caller, known_children: KnownChildren) -> Self {
        Self {
            caller,
            known_children,
        }
    }

    /// Returns the places of the person.
    pub(crate) fn places(&self) -> &Places {
        &self.caller.places
    }

    /// Returns the names of the definitions that a new run can have.
    pub fn definitions(&self) -> Vec<String> {
        let configuration = Configuration::read_once(self.places(), false);
        let definitions = configuration.catalogue.effective(Asker::Subagent);
        definitions
            .into_iter()
            .map(|definition| definition.name.clone())
            .collect()
    }

    /// Starts a run, and returns when it has a process of its own.
    pub async fn start(&self, wanted: WantedRun) -> Result<StartedRun, CommandError> {
        let known_children = &self.known_children;
        let caller = self.caller.clone();
        match wanted {
            WantedRun::New { definition, prompt } => {
                let arguments = json!({"preset": definition, "task": prompt});
                let spawned = spawn(&arguments, &caller, known_children).await?;
                Ok(spawned.into())
            }
            WantedRun::Again { run, model } => {
                let repetition = beside(move || Repetition::of(&run, model, caller)).await?;
                repetition.in_background(known_children).await
            }
            WantedRun::Resumed { run, prompt } => {
                let resumption = beside(move || resumption_of(&run, caller)).await?;
                resumption.in_background(&prompt, known_children).await
            }
            WantedRun::Returned {
                run,
                prompt,
                worktree,
            } => {
                let mut resumption = beside(move || resumption_of(&run, caller)).await?;
                resumption.caller.overrides.worktree = Some(*worktree);
                resumption.in_background(&prompt, known_children).await
            }
        }
    }
}

/// Finds the session of a run, and how it goes on.
fn resumption_of(run: &IndexedRun, caller: Caller) -> Result<Resumption, CommandError> {
    let index = KnownIndex::of(&caller.places);
    tend(&index, &caller.places);
    let session = find_session(&index, &caller.places, None, run.run.as_str());
    Resumption::of(session.map_err(find_failure)?, caller)
}

/// Reads files on a thread that may wait.
pub(crate) async fn beside<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    spawn_blocking(read).await.unwrap_or_else(|error| {
        Err(CommandError::failed("the session could not be read").because(&error))
    })
}
