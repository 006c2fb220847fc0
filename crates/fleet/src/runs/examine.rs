//! Examines the fleet of this user: everything that a caller needs of it, or a worker.

use pi_subagents_fleet_queue::wire::WorkerCard;
use pi_subagents_fleet_queue::{Fleet, FleetError, Permissions};

use super::connection::{address, unreachable};
use super::own_fleet::OwnFleet;
use crate::values::{ExaminedFleet, FleetProblem, SoundFleet};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// A connection, and the permissions that its role needs.
struct Connected {
    fleet: Fleet,
    /// A caller, or a worker.
    role: &'static str,
    needs: Result<Permissions, FleetError>,
}

impl OwnFleet {
    /// Tries everything that a caller needs, or the worker of this machine if our key is a worker's.
    /// Fails if it cannot be reached.
    pub async fn examine(
        &self,
        places: &Places,
        worker: &str,
        pools: &[String],
    ) -> Result<ExaminedFleet, CommandError> {
        let connected = self.connect_as_permitted(places, worker, pools).await?;
        let (_, version) = connected.fleet.server();
        let found = look(&connected, &self.settings().pool).await;
        connected.fleet.close().await;
        Ok(ExaminedFleet { version, found })
    }

    /// Connects as a caller, or as the worker of this machine if the key is a worker's: the server
    /// lets each key hear answers under one name only.
    async fn connect_as_permitted(
        &self,
        places: &Places,
        worker: &str,
        pools: &[String],
    ) -> Result<Connected, CommandError> {
        let caller = self.connect(places).await?;
        if !matches!(caller.probe().await, Err(FleetError::Deaf { .. })) {
            return Ok(Connected {
                needs: Ok(Permissions::of_caller(caller.names(), "caller")),
                fleet: caller,
                role: "caller",
            });
        }
        caller.close().await;
        let address = address(self.settings(), Some(worker), places)?;
        let fleet = Fleet::connect(&address).await.map_err(unreachable)?;
        Ok(Connected {
            needs: Permissions::of_worker(fleet.names(), worker, pools),
            fleet,
            role: "worker",
        })
    }
}

/// Tries one thing after the other, and stops at the first problem.
async fn look(connected: &Connected, pool: &str) -> Result<SoundFleet, FleetProblem> {
    let fleet = &connected.fleet;
    let missing = fleet
        .missing(&[pool.to_owned()])
        .await
        .map_err(FleetProblem::Failed)?;
    if let Some(what) = missing.into_iter().next() {
        return Err(FleetProblem::NotSetUp(what));
    }
    let needs = connected.needs.clone().map_err(FleetProblem::Failed)?;
    let permissions = fleet.refused(&needs).await.map_err(FleetProblem::Failed)?;
    if !permissions.is_empty() {
        let role = connected.role;
        return Err(FleetProblem::Lacks { role, permissions });
    }
    let probe = fleet.probe().await.map_err(FleetProblem::Failed)?;
    let storage = fleet.storage().await.map_err(FleetProblem::Failed)?;
    let workers = fleet.workers().await.map_err(FleetProblem::Failed)?;
    let takes = |card: &WorkerCard| card.pools.iter().any(|one| one == pool);
    Ok(SoundFleet {
        probe,
        storage,
        workers: workers.iter().filter(|(_, card)| takes(card)).count(),
    })
}
