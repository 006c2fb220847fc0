//! `status --fleet`: the pools of the fleet, and the runs in them.

use std::process::ExitCode;

use pi_subagents_windows::{Column, Line, Role, table};
use serde_json::json;

use crate::doors::command_line::sheet::Sheet;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::fleet::connection::{connect, no_fleet, settings_of_user, unreachable};
use crate::runtime::block_on;

/// The columns from left to right.
const COLUMNS: [Column; 4] = [
    Column::whole("POOL", 0),
    Column::number("QUEUED", 0),
    Column::number("RUNNING", 0),
    Column::words("WORKERS", 0, 12, 60),
];

/// Prints how busy each pool is.
pub(super) fn run(places: &Places, printer: Printer) -> Result<ExitCode, CommandError> {
    let settings = settings_of_user(places);
    if !settings.is_configured() {
        return Err(no_fleet());
    }
    let (pools, workers) = block_on(async {
        let fleet = connect(&settings, places).await?;
        let pools = fleet.pools().await.map_err(unreachable)?;
        let workers = fleet.workers().await.map_err(unreachable)?;
        fleet.close().await;
        Ok((pools, workers))
    })?;
    let workers_of = |pool: &str| -> Vec<String> {
        let takes = |card: &&(String, _)| has_pool(card, pool);
        workers
            .iter()
            .filter(takes)
            .map(|(name, _)| name.clone())
            .collect()
    };
    if printer.is_json() {
        let pools: Vec<_> = pools
            .iter()
            .map(|pool| {
                json!({"pool": pool.pool, "queued": pool.queued, "running": pool.running,
                    "workers": workers_of(&pool.pool)})
            })
            .collect();
        printer.json(&json!({"pools": pools}));
        return Ok(ExitCode::SUCCESS);
    }
    let sheet = Sheet::of_stdout(places);
    let rows: Vec<Vec<Line>> = pools
        .iter()
        .map(|pool| {
            let names = workers_of(&pool.pool);
            let names = if names.is_empty() {
                Line::new(Role::Warning, "no worker")
            } else {
                Line::new(Role::Plain, &names.join(", "))
            };
            vec![
                Line::new(Role::Title, &pool.pool),
                Line::new(Role::Plain, &pool.queued.to_string()),
                Line::new(Role::Plain, &pool.running.to_string()),
                names,
            ]
        })
        .collect();
    printer.painted(&sheet.text(&table(&COLUMNS, rows, sheet.columns())));
    Ok(ExitCode::SUCCESS)
}

fn has_pool((_, card): &(String, pi_subagents_fleet::wire::WorkerCard), pool: &str) -> bool {
    card.pools.iter().any(|one| one == pool)
}
