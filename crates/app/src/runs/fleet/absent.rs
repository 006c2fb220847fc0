//! Stands for the fleet in a build without it: the same door, with nothing behind it. Values that
//! only a fleet can give have types without values, so what needs them cannot be called.

#![expect(clippy::unused_async, reason = "the door is the same in every build")]

use pi_subagents_definitions::FleetSettings;
use pi_subagents_delegation::{PartialMessage, RunId};
use pi_subagents_engine::{OwnerReply, Want};
use pi_subagents_sessions::{IndexedRun, OwnerName, RunDir, Store};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::places::Places;
use crate::runs::away::Away;
use crate::runs::fleet_values::{
    ExaminedFleet, FleetLoad, KeyOwner, MadeFleet, NewKey, PresentWorker, WantedFleet,
};
use crate::runs::follow::process_gone;
use crate::runs::owned::OwnerProcess as _;

/// The answer to everybody who asks for the fleet.
pub(crate) const NOT_BUILT: &str = "this pi-subagents was built without the fleet";

/// Returns the error that there is no fleet in this build, with advice on getting one that has it.
fn not_built() -> CommandError {
    CommandError::usage(NOT_BUILT).hint(
        "Build it with its default features: cargo build --release, without --no-default-features.",
    )
}

/// A fleet that the settings name. This build cannot reach any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnFleet {}

impl OwnFleet {
    /// Fails: whatever the settings name, this build cannot use it.
    pub(crate) fn of(_: &FleetSettings) -> Result<Self, CommandError> {
        Err(not_built())
    }

    /// Fails as [`Self::of`] does.
    pub(crate) fn of_user(_: &Places) -> Result<Self, CommandError> {
        Err(not_built())
    }

    pub(crate) async fn workers(&self, _: &Places) -> Result<Vec<PresentWorker>, CommandError> {
        match *self {}
    }

    pub(crate) async fn load(
        &self,
        _: &Places,
        _: &[IndexedRun],
    ) -> Result<FleetLoad, CommandError> {
        match *self {}
    }

    pub(crate) async fn set_up(
        &self,
        _: &Places,
        _: &WantedFleet,
    ) -> Result<MadeFleet, CommandError> {
        match *self {}
    }

    pub(crate) async fn examine(
        &self,
        _: &Places,
        _: (&str, &[String]),
    ) -> Result<ExaminedFleet, CommandError> {
        match *self {}
    }
}

/// Fails: the keys of a fleet come from its library.
pub(crate) fn new_key(_: KeyOwner<'_>, _: &FleetSettings) -> Result<NewKey, CommandError> {
    Err(not_built())
}

/// Fails: the worker of a run cannot be asked.
pub(crate) async fn ask_fleet(_: &RunId, _: Want) -> Result<OwnerReply, CommandError> {
    Err(not_built())
}

/// Copies nothing: the records of runs in a fleet stay as they are.
pub(crate) fn catch_up(_: &Store, _: &[IndexedRun]) -> bool {
    false
}

/// Says why the end of a run in a fleet is not seen here, once no process of another build follows
/// it on this machine.
pub(crate) fn follow_in_fleet(_: &RunDir, owner: &OwnerName) -> Option<JoinHandle<Option<String>>> {
    owner.fleet.as_ref()?;
    let (runtime, owner) = (Handle::try_current().ok()?, owner.clone());
    Some(runtime.spawn(async move {
        if owner.owner_process().is_some() {
            process_gone(&owner).await;
        }
        Some(NOT_BUILT.to_owned())
    }))
}

/// Finds nothing, and says why if the settings name a fleet.
pub(crate) fn look_elsewhere(_: &Store, places: &Places, _: &str) -> Result<bool, String> {
    let settings = Configuration::read_once(places, false).settings.fleet;
    if settings.is_configured() {
        return Err(NOT_BUILT.to_owned());
    }
    Ok(false)
}

/// Fetches nothing, and says why if the latest run ended in a fleet.
pub(crate) fn fetch_missing(_: &Places, runs: &[IndexedRun]) -> Result<(), String> {
    let latest = runs.last();
    match latest.filter(|run| run.owner.fleet.is_some() && !run.is_open()) {
        Some(run) => Err(format!(
            "{}: what it changed could not be fetched: {NOT_BUILT}",
            run.run
        )),
        None => Ok(()),
    }
}

/// Returns nothing: this build follows no run of a fleet.
pub(crate) fn noted_away(_: &RunDir) -> Option<Away> {
    None
}

/// The words of runs in a fleet, which nobody hears here.
#[derive(Clone, Default)]
pub(crate) struct FleetWords;

/// The words of a run in a fleet.
pub(crate) enum LiveWords {}

impl FleetWords {
    pub(crate) async fn listen_to(&self, _: &RunId) -> Option<LiveWords> {
        None
    }
}

impl LiveWords {
    pub(crate) async fn next(&mut self) -> (RunId, PartialMessage) {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_for_the_fleet_learns_that_it_was_not_built() {
        let settings = FleetSettings {
            servers: vec!["nats://127.0.0.1:4222".to_owned()],
            ..FleetSettings::default()
        };
        let refused = OwnFleet::of(&settings).expect_err("no fleet");
        insta::assert_snapshot!(refused.sentence(), @"
        this pi-subagents was built without the fleet
        hint: Build it with its default features: cargo build --release, without --no-default-features.
        ");
        let key = new_key(KeyOwner::Caller, &settings).expect_err("no key");
        assert_eq!(key.sentence(), refused.sentence());
    }
}
