//! Runs that are started from the screen. How that is done, somebody else knows.

use std::future::Future;
use std::pin::Pin;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;

use pi_subagents_ground::error::CommandError;

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
}

/// A run that has begun in a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedRun {
    pub run: RunId,
    /// A notice for the person who started the run.
    pub warnings: Vec<String>,
}

/// The outcome of an attempt to start a run.
pub type PendingStart = Pin<Box<dyn Future<Output = Result<StartedRun, CommandError>> + Send>>;

/// Starts runs in the background, so that leaving the screen stops nothing.
pub trait Starter: Send + Sync {
    /// Returns the names of the definitions that a new run can have.
    fn definitions(&self) -> Vec<String>;

    /// Starts a run, and ends when it has a process of its own.
    fn start(&self, wanted: WantedRun) -> PendingStart;

    /// Opens the web page at a run; the page is served on when the screen is left.
    fn open_page(&self, run: &IndexedRun) -> Result<(), CommandError>;
}
