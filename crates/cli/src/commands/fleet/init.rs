//! `fleet init`: makes the queues and stores of a fleet, or updates them.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::places::find_places;
use clap::Args;
use pi_subagents_vocabulary::fits_fleet_name;
use schemars::JsonSchema;
use serde::Serialize;

use pi_subagents_fleet::{OwnFleet, Shape};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Examples:
  pi-subagents fleet init --nkey ~/.pi/agent/fleet-root.nk
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
    /// Key of the administrator, for this command alone [default: the setting subagents.fleet.nkey]
    #[arg(long, value_name = "FILE")]
    nkey: Option<PathBuf>,
}

/// The sizes that are tried, in gigabytes, if none is given.
const RECORDS: [u64; 5] = [20, 10, 5, 2, 1];

fn parse_pool(text: &str) -> Result<String, String> {
    if fits_fleet_name(text) {
        return Ok(text.to_owned());
    }
    Err("a pool has 1 to 32 letters, digits, - and _".to_owned())
}

/// The JSON of `fleet init`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitResult<'a> {
    /// The address of the server.
    server: &'a str,
    /// The version of the server.
    version: &'a str,
    pools: &'a [String],
    /// The number of servers that keep each message.
    replicas: usize,
    /// The room for records.
    record_gigabytes: u64,
}

pub(super) fn run(args: &InitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let mut settings = Configuration::read_once(&places, false).settings.fleet;
    if let Some(file) = &args.nkey {
        settings.nkey = Some(places.cwd.join(file));
    }
    let fleet = OwnFleet::of(&settings)?;
    let mut pools = args.pools.clone();
    if pools.is_empty() {
        pools.push(settings.pool.clone());
    }
    let shape = Shape {
        pools,
        replicas: if args.replicas == "3" { 3 } else { 1 },
        ..Shape::default()
    };
    let sizes = args.records.map_or(RECORDS.to_vec(), |size| vec![size]);
    let made = block_on(fleet.set_up(&places, &shape, &sizes))?;
    let (pools, records) = (&shape.pools, made.record_gigabytes);
    if printer.is_json() {
        printer.json(&InitResult {
            server: &made.server,
            version: &made.version,
            pools,
            replicas: shape.replicas,
            record_gigabytes: records,
        });
    } else {
        let named = if pools.len() == 1 { "pool" } else { "pools" };
        printer.data(&format!(
            "The fleet is set up on nats-server {}, with the {named} {}.",
            made.version,
            pools.join(", ")
        ));
        if args.records.is_none() && Some(&records) != RECORDS.first() {
            printer.note(&format!(
                "It keeps up to {records} GB of records, because the server has no room for more."
            ));
        }
        // The pool of the settings needs no name in the commands.
        let other = pools.first().filter(|pool| **pool != settings.pool);
        let (of_worker, of_call) = other.map_or_else(Default::default, |pool| {
            (format!(" --pool {pool}"), format!(":{pool}"))
        });
        printer.note(&format!("\nStart a worker:   pi-subagents fleet work{of_worker}\nSend it a task:   pi-subagents run --on fleet{of_call} \"PROMPT\""));
    }
    Ok(ExitCode::SUCCESS)
}
