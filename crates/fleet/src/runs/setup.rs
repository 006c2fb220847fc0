//! Sets up the fleet of this user on its server.

use pi_subagents_fleet_queue::{Fleet, FleetError, Shape};

use super::connection::unreachable;
use super::own_fleet::OwnFleet;
use crate::values::MadeFleet;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

impl OwnFleet {
    /// Makes its queues and stores on its server, or updates them, with the first of some sizes of
    /// its records, in gigabytes from the largest to the smallest, that the server has room for.
    pub async fn set_up(
        &self,
        places: &Places,
        shape: &Shape,
        sizes: &[u64],
    ) -> Result<MadeFleet, CommandError> {
        let fleet = self.connect(places).await?;
        let record_gigabytes = make(&fleet, shape, sizes).await?;
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
async fn make(fleet: &Fleet, shape: &Shape, sizes: &[u64]) -> Result<u64, CommandError> {
    let smallest = sizes.last();
    for gigabytes in sizes {
        let shape = Shape {
            record_bytes: gigabytes * 1_000_000_000,
            ..shape.clone()
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
