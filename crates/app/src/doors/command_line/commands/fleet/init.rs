//! `fleet init`: makes the queues and stores of a fleet, or updates them.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::fits_fleet_name;
use pi_subagents_fleet::{Fleet, Shape};
use serde_json::json;

use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::fleet::connection::{connect, no_fleet, unreachable};
use crate::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Examples:
  pi-subagents fleet init
  pi-subagents fleet init --pool default --pool gpu --replicas 3";

#[derive(Args)]
pub(super) struct InitArgs {
    /// Pool that the fleet has; may be given several times [default: the setting subagents.fleet.pool, or default]
    #[arg(long = "pool", value_name = "POOL", value_parser = parse_pool)]
    pools: Vec<String>,
    /// On how many servers of a cluster everything is kept
    #[arg(long, value_name = "1|3", default_value = "1", value_parser = ["1", "3"])]
    replicas: String,
    /// Gigabytes of records that the server keeps for readers; the oldest go first [default: 20, or less if the server has no room]
    #[arg(long, value_name = "GB", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    records: Option<u64>,
}

/// The sizes that are tried, in gigabytes, if none is given.
const RECORDS: [u64; 5] = [20, 10, 5, 2, 1];

fn parse_pool(text: &str) -> Result<String, String> {
    if fits_fleet_name(text) {
        return Ok(text.to_owned());
    }
    Err("a pool has 1 to 32 letters, digits, - and _".to_owned())
}

pub(super) fn run(args: &InitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let settings = Configuration::read_once(&places, false).settings.fleet;
    if !settings.is_configured() {
        return Err(no_fleet());
    }
    let mut pools = args.pools.clone();
    if pools.is_empty() {
        pools.push(settings.pool.clone());
    }
    let shape = Shape {
        pools: pools.clone(),
        replicas: if args.replicas == "3" { 3 } else { 1 },
        ..Shape::default()
    };
    let ((server, version), records) = block_on(async {
        let fleet = connect(&settings, &places).await?;
        let records = set_up(&fleet, &shape, args.records).await?;
        let server = fleet.server();
        fleet.close().await;
        Ok((server, records))
    })?;
    if printer.is_json() {
        printer.json(&json!({"server": server, "version": version, "pools": pools, "replicas": shape.replicas, "recordGigabytes": records}));
    } else {
        let named = if pools.len() == 1 { "pool" } else { "pools" };
        printer.data(&format!(
            "The fleet is set up on nats-server {version}, with the {named} {}.",
            pools.join(", ")
        ));
        if args.records.is_none() && Some(&records) != RECORDS.first() {
            printer.note(&format!(
                "It keeps up to {records} GB of records, because the server has no room for more."
            ));
        }
        printer.note("\nStart a worker:   pi-subagents worker\nSend it a task:   pi-subagents run --on fleet \"PROMPT\"");
    }
    Ok(ExitCode::SUCCESS)
}

/// Sets the fleet up, and returns how many gigabytes of records it keeps.
async fn set_up(fleet: &Fleet, shape: &Shape, records: Option<u64>) -> Result<u64, CommandError> {
    let sizes = records.map_or(RECORDS.to_vec(), |records| vec![records]);
    let smallest = sizes.last().copied();
    for gigabytes in sizes {
        let shape = Shape {
            record_bytes: gigabytes * 1_000_000_000,
            ..shape.clone()
        };
        match fleet.set_up(&shape).await {
            Ok(()) => return Ok(gigabytes),
            Err(error) if error.is_no_room() && Some(gigabytes) != smallest => {}
            Err(error) if error.is_no_room() => {
                return Err(CommandError::failed(format!(
                    "the server has no room for {gigabytes} GB of records"
                ))
                .because(&error)
                .hint("Give it more with jetstream { max_file: 50G } in its file, or less to the fleet with --records GB."));
            }
            Err(error) => return Err(unreachable(error)),
        }
    }
    Err(CommandError::failed("no size of the records is given"))
}
