//! Stands for calls that go to a fleet in a build without it: the same door, with nothing behind it.
//! A call that asks for a fleet fails when its destination is looked for, so a departure and an order
//! have types without values.

#![expect(
    clippy::unused_async,
    clippy::needless_pass_by_value,
    reason = "the door is the same in every build"
)]

use pi_subagents_definitions::FleetSettings;
use pi_subagents_delegation::{Plan, Refusal};
use serde_json::Value;

use crate::calls::caller::Caller;
use crate::calls::destination::Destination;
use crate::calls::named_session::NamedSession;
use crate::calls::open_run::Ordered;
use crate::calls::opened_task::OpenedTask;
use crate::calls::owner::Owner;
use crate::calls::work::Work;
use crate::calls::worker_options::WorkerOptions;
use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::places::Places;
use crate::runs::fleet::{NOT_BUILT, OwnFleet};

/// A call that is ready to leave for a fleet.
pub(crate) enum Departure {}

/// The order of a task to a worker.
pub(crate) enum Order {}

impl Departure {
    /// Returns `None` for a call that works here, and fails for every other.
    pub(crate) async fn prepare(
        caller: &Caller,
        configuration: &Configuration,
        _is_waited_for: bool,
    ) -> Result<Option<Self>, CommandError> {
        let destination = Destination::of_call(caller, configuration)?;
        Ok(destination.map(|destination| match destination.fleet {}))
    }

    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn warnings(&self) -> &[String] {
        match *self {}
    }

    pub(crate) fn order(&self, _: Ordered<'_>, _: Option<&str>) -> Result<Order, Refusal> {
        match *self {}
    }
}

pub(crate) fn work(departure: Departure, _: Vec<OpenedTask>, _: &Owner) -> Work<'_> {
    match departure {}
}

/// Returns the work of a plan on this machine. Its conversations are no fleet's: [`catch_up`] has
/// refused all others.
pub(crate) fn work_here(owner: &Owner, plan: Plan) -> Work<'_> {
    Work::here(owner, plan)
}

/// Refuses to go on with a conversation that a fleet keeps too, because it may have gone on there.
pub(crate) fn catch_up(
    _: &Places,
    _: &FleetSettings,
    named: &NamedSession<'_>,
) -> Result<Option<String>, Refusal> {
    match named.note() {
        None => Ok(None),
        Some(_) => Err(Refusal {
            message: format!(
                "session {} may have gone on in the fleet, which cannot be asked: {NOT_BUILT}",
                named.id
            ),
        }),
    }
}

/// A call that has not left for a fleet.
pub(crate) enum DryRun {}

impl DryRun {
    pub(crate) async fn look(_: &Caller, destination: Destination) -> Result<Self, CommandError> {
        match destination.fleet {}
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        match *self {}
    }

    pub(crate) fn json(&self) -> Value {
        match *self {}
    }
}

pub(crate) async fn work_as_worker(
    fleet: OwnFleet,
    _: WorkerOptions,
    _: Places,
    _: Configuration,
) -> Result<(), CommandError> {
    match fleet {}
}
