//! The fleet that the settings of this user name, and what is asked of it as a whole.

use std::collections::{BTreeMap, HashMap};

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::names::Names;
use pi_subagents_fleet_queue::wire::{RunCard, RunEntry, WorkerCard};
use pi_subagents_fleet_queue::{Fleet, FleetError, Key, Permissions};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::{RunId, Secret};

use super::connection::{caller_name, connect, settings_of_user, unreachable};
use crate::values::{FleetLoad, KeyOwner, NewKey, OtherRun};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::elsewhere::no_fleet;
use pi_subagents_runs::fleet_outage::Away;

/// A fleet that the settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFleet {
    settings: FleetSettings,
}

impl OwnFleet {
    /// Returns the fleet of some settings, or the error that they name none.
    pub fn of(settings: &FleetSettings) -> Result<Self, CommandError> {
        if !settings.is_configured() {
            return Err(no_fleet());
        }
        let settings = settings.clone();
        Ok(Self { settings })
    }

    /// Returns the fleet of the user's own settings.
    pub fn of_user(places: &Places) -> Result<Self, CommandError> {
        Self::of(&settings_of_user(places))
    }

    /// Returns its settings.
    pub fn settings(&self) -> &FleetSettings {
        &self.settings
    }

    /// Connects to it as a caller.
    pub async fn connect(&self, places: &Places) -> Result<Fleet, CommandError> {
        connect(&self.settings, places).await
    }

    /// Returns the names and cards of its workers.
    pub async fn workers(
        &self,
        places: &Places,
    ) -> Result<Vec<(String, WorkerCard)>, CommandError> {
        let fleet = self.connect(places).await?;
        let workers = fleet.workers().await.map_err(unreachable)?;
        fleet.close().await;
        Ok(workers)
    }

    /// Returns how busy its pools are, and the runs under way that are not among those known here.
    pub async fn load(
        &self,
        places: &Places,
        known: &[IndexedRun],
    ) -> Result<FleetLoad, CommandError> {
        let fleet = self.connect(places).await;
        let fleet = fleet.map_err(|error| with_absence(error, known))?;
        let load = load_of(&fleet, known).await.map_err(unreachable)?;
        fleet.close().await;
        Ok(load)
    }
}

async fn load_of(fleet: &Fleet, known: &[IndexedRun]) -> Result<FleetLoad, FleetError> {
    let entries = fleet.entries().await?;
    let ended = entries.values().filter_map(|entry| match entry {
        RunEntry::Ended(ended) => Some(ended),
        RunEntry::Running(_) | RunEntry::Released(_) => None,
    });
    let mut endings: BTreeMap<String, u64> = BTreeMap::new();
    let mut begun_again = 0;
    for one in ended {
        *endings.entry(one.status.clone()).or_default() += 1;
        begun_again += u64::from(one.attempt > 1);
    }
    Ok(FleetLoad {
        pools: fleet.pools().await?,
        workers: fleet.workers().await?,
        others: other_runs(fleet.cards().await?, &entries, known),
        endings,
        begun_again,
        storage: fleet.storage().await?,
    })
}

/// Returns the runs under way that this machine does not know.
fn other_runs(
    cards: Vec<(RunId, RunCard)>,
    entries: &HashMap<String, RunEntry>,
    known: &[IndexedRun],
) -> Vec<OtherRun> {
    let others = cards
        .into_iter()
        .filter(|(run, _)| !known.iter().any(|one| one.run == *run));
    let others = others.filter_map(|(run, card)| {
        let worker = match entries.get(run.as_str()) {
            Some(RunEntry::Ended(_)) => return None,
            Some(RunEntry::Running(running)) => Some(running.worker.clone()),
            Some(RunEntry::Released(_)) | None => None,
        };
        Some(OtherRun { run, card, worker })
    });
    others.collect()
}

/// Adds to an error that the servers of the fleet are known to be away.
fn with_absence(error: CommandError, known: &[IndexedRun]) -> CommandError {
    let mut open = known.iter().filter(|run| run.is_open());
    let sentence = open.find_map(|run| Some(Away::noted(&run.directory)?.sentence(&run.run)));
    match sentence {
        Some(sentence) => error.hint(format!("By what your runs have seen, {sentence}.")),
        None => error,
    }
}

/// Makes a key for somebody, with the rights that they need in a fleet of these settings.
pub fn new_key(owner: KeyOwner<'_>, settings: &FleetSettings) -> Result<NewKey, CommandError> {
    let bad = |error: &dyn std::error::Error| CommandError::failed(error.to_string());
    let names = Names::new(&settings.prefix).map_err(|error| bad(&error))?;
    let key = Key::generate();
    let permissions = match owner {
        KeyOwner::Admin => Permissions::of_admin(),
        KeyOwner::Caller => Permissions::of_caller(&names, &caller_name(&key)),
        KeyOwner::Worker { name, pools } => {
            Permissions::of_worker(&names, name, pools).map_err(|error| bad(&error))?
        }
    };
    Ok(NewKey {
        seed: Secret::new(key.seed().map_err(|error| bad(&error))?),
        public: key.public(),
        permissions,
    })
}
