//! Runs that work on other machines: what this crate and the rooms above it ask about them.
//!
//! Nothing here knows how such runs are reached. A program that knows other machines hands an
//! [`Elsewhere`] over with its [`Places`], whose settings say which machines these are. Without one,
//! all runs are those of this machine.

use std::pin::Pin;
use std::sync::Arc;

use pi_subagents_engine::{OwnerReply, Want};
use pi_subagents_records::{IndexedRun, OwnerName, RunDir, Store};
use pi_subagents_vocabulary::{PartialMessage, RunId};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// A future of a trait object.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A task that follows a run to its end. It returns why it did not see the end, if it did not.
/// Dropping the handle does not end the task.
pub type Following = JoinHandle<Option<String>>;

/// Everything that is asked about runs which work on other machines.
pub trait Elsewhere: Send + Sync {
    /// Looks for the runs that an id stands for, and copies their records here. Returns whether
    /// there were any, or why nobody could be asked.
    fn find(&self, store: &Store, places: &Places, id: &str) -> Result<bool, String>;

    /// Copies the new bytes of open runs that no process follows.
    fn catch_up(&self, store: &Store, places: &Places, left: &[IndexedRun]);

    /// Follows a run to its end beside other work, once no other process does; `None` for a run of
    /// this machine.
    fn follow(&self, places: &Places, directory: &RunDir, owner: &OwnerName) -> Option<Following>;

    /// Stops a run, or sends something to its child.
    fn ask<'a>(
        &'a self,
        places: &'a Places,
        run: &'a RunId,
        want: Want,
    ) -> Pending<'a, Result<OwnerReply, CommandError>>;

    /// Fetches the changes of some runs into the checkout of a command, as far as no checkout of
    /// this machine has them. Returns why some could not be fetched.
    fn fetch(&self, places: &Places, runs: &[IndexedRun]) -> Result<(), String>;

    /// Returns a reader of the words that models are writing. What it needs in order to read is
    /// shared by all of its runs.
    fn words(&self, places: &Places) -> Arc<dyn WordsElsewhere>;
}

/// A reader of the words that models on other machines are writing.
pub trait WordsElsewhere: Send + Sync {
    /// Sends the words of a run until its future is dropped, or at once nothing more if nobody can
    /// be asked. Words are left out while the channel is full, because newer words hold more.
    fn read(
        self: Arc<Self>,
        run: RunId,
        words: mpsc::Sender<(RunId, PartialMessage)>,
    ) -> Pending<'static, ()>;
}

/// Returns what answers for other machines, if the program has handed it over.
pub(crate) fn elsewhere(places: &Places) -> Option<&'static dyn Elsewhere> {
    places.guests.get::<&'static dyn Elsewhere>().copied()
}

/// Follows a run of another machine to its end beside other work, once no other process does.
pub fn follow_elsewhere(
    places: &Places,
    directory: &RunDir,
    owner: &OwnerName,
) -> Option<Following> {
    elsewhere(places)?.follow(places, directory, owner)
}

/// Fetches the changes of some runs into the checkout of a command, as far as other machines have
/// them and this one does not. Returns why some could not be fetched.
pub fn fetch_missing(places: &Places, runs: &[IndexedRun]) -> Result<(), String> {
    elsewhere(places).map_or(Ok(()), |elsewhere| elsewhere.fetch(places, runs))
}

/// Looks for the runs that an id stands for, and copies their records here. Returns whether there
/// were any, or why nobody could be asked.
pub(crate) fn look_elsewhere(store: &Store, places: &Places, id: &str) -> Result<bool, String> {
    elsewhere(places).map_or(Ok(false), |elsewhere| elsewhere.find(store, places, id))
}

/// Steers or stops a run of another machine.
pub(crate) async fn ask_elsewhere(
    places: &Places,
    run: &RunId,
    want: Want,
) -> Result<OwnerReply, CommandError> {
    let elsewhere = elsewhere(places).ok_or_else(|| {
        CommandError::failed(format!(
            "run {run} works in a fleet, and this program knows none"
        ))
    })?;
    elsewhere.ask(places, run, want).await
}

/// Returns the error that there is no fleet, with advice on getting one.
pub fn no_fleet() -> CommandError {
    CommandError::usage("no fleet is configured")
        .hint(
            r#"Name its server in settings.json: {"subagents": {"fleet": {"servers": ["nats://127.0.0.1:4222"]}}}"#,
        )
        .hint("The page fleet.md of the documentation shows how to set up two workers.")
}
