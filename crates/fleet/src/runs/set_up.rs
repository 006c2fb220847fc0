//! Sets up the fleet of this user on its server.

use pi_subagents_fleet_queue::{Fleet, FleetError, Shape};

use super::connection::unreachable;
use super::own_fleet::OwnFleet;
use crate::values::{MadeFleet, WantedFleet};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

impl OwnFleet {
    /// Makes its queues and stores on its server, or updates them.
    pub async fn set_up(
        &self,
        places: &Places,
        wanted: &WantedFleet,
    ) -> Result<MadeFleet, CommandError> {
        let fleet = self.connect(places).await?;
        let record_gigabytes = make(&fleet, wanted).await?;
        let (server, version) = fleet.server();
        fleet.close().await;
        Ok(MadeFleet {
            server,
            version,
            record_gigabytes,
        })
    }
}

/// Makes the first size of a fleet that the server has room for. Returns how many gigabytes of
/// records it keeps.
async fn make(fleet: &Fleet, wanted: &WantedFleet) -> Result<u64, CommandError> {
    let smallest = wanted.record_gigabytes.last();
    for gigabytes in &wanted.record_gigabytes {
        let shape = Shape {
            pools: wanted.pools.clone(),
            replicas: wanted.replicas,
            record_bytes: gigabytes * 1_000_000_000,
            ..Shape::default()
        };
        match fleet.set_up(&shape).await {
            Ok(()) => return Ok(*gigabytes),
            Err(error) if error.is_no_room() && Some(gigabytes) != smallest => {}
            Err(error) if error.is_no_room() => {
                return Err(CommandError::failed(format!(
                    "the server has no room for {gigabytes} GB of records"
                ))
                .because(&error)
                .hint("Give it more with jetstream { max_file: 50G } in its file, or less to the fleet with --records GB."));
            }
            Err(error @ (FleetError::NotAllowed { .. } | FleetError::Deaf { .. })) => {
                return Err(CommandError::failed(error.to_string()).hint(
                    "fleet init needs the key of an administrator: pi-subagents fleet key admin NAME makes one, and --nkey FILE names it.",
                ));
            }
            Err(error) => return Err(unreachable(error)),
        }
    }
    Err(CommandError::failed("no size of the records is given"))
}
