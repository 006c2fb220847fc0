//! The fleet as the rest of the program sees it: an answer to everything that is asked about other
//! machines.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_engine::{OwnerReply, Want};
use pi_subagents_records::{IndexedRun, OwnerName, RunDir, Store};
use pi_subagents_vocabulary::{Plan, Refusal, RunId};

use crate::calls::FleetDeparture;
use crate::calls::conversation;
use crate::calls::may_travel;
use crate::runs::{
    FleetWords, ask_fleet, catch_up, fetch_missing, follow_in_fleet, look_elsewhere,
};
use pi_subagents_calls::destination::FleetDestination;
use pi_subagents_calls::elsewhere::{
    CallsElsewhere, Departure, NamedSession, Waiting, guests_from_elsewhere,
};
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::resolve::ResolvedWork;
use pi_subagents_calls::work::CallWork;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::{Guests, Places};
use pi_subagents_runs::elsewhere::{Elsewhere, Following, Pending, WordsElsewhere};

/// The fleet of the user whose settings name one. It keeps nothing: every question says whose
/// settings count.
struct Guest;

/// Returns the values with which a program hands the fleet over, so that it answers for other
/// machines.
pub fn guests() -> Guests {
    guests_from_elsewhere(&Guest)
}

impl Elsewhere for Guest {
    fn find(&self, store: &Store, places: &Places, id: &str) -> Result<bool, String> {
        look_elsewhere(store, places, id)
    }

    fn catch_up(&self, store: &Store, places: &Places, left: &[IndexedRun]) {
        catch_up(store, places, left);
    }

    fn follow(&self, places: &Places, directory: &RunDir, owner: &OwnerName) -> Option<Following> {
        follow_in_fleet(places, directory, owner)
    }

    fn ask<'a>(
        &'a self,
        places: &'a Places,
        run: &'a RunId,
        want: Want,
    ) -> Pending<'a, Result<OwnerReply, CommandError>> {
        Box::pin(ask_fleet(places, run, want))
    }

    fn fetch(&self, places: &Places, runs: &[IndexedRun]) -> Result<(), String> {
        fetch_missing(places, runs)
    }

    fn words(&self, places: &Places) -> Arc<dyn WordsElsewhere> {
        Arc::new(FleetWords::new(places))
    }
}

impl CallsElsewhere for Guest {
    fn may_travel(
        &self,
        work: &ResolvedWork,
        destination: &FleetDestination,
    ) -> Result<(), Refusal> {
        may_travel(work, destination)
    }

    fn depart<'a>(
        &'a self,
        places: &'a Places,
        destination: &'a FleetDestination,
        directories: &'a [PathBuf],
        waiting: Waiting,
    ) -> Pending<'a, Result<Box<dyn Departure>, CommandError>> {
        Box::pin(async move {
            let prepared = FleetDeparture::prepare(places, destination, directories, waiting);
            let departure = prepared.await?;
            Ok(Box::new(departure) as Box<dyn Departure>)
        })
    }

    fn bring_conversation(
        &self,
        places: &Places,
        settings: &FleetSettings,
        named: &NamedSession<'_>,
    ) -> Result<Option<String>, Refusal> {
        conversation::catch_up(places, settings, named)
    }

    fn work_here<'a>(&self, owner: &'a Owner, places: &Places, plan: Plan) -> CallWork<'a> {
        conversation::work_here(owner, places, plan)
    }
}
