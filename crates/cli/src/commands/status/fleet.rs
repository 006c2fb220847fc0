//! `status --fleet`: the pools of the fleet, and the runs in them that were asked for elsewhere.

use std::process::ExitCode;

use pi_subagents_records::Store;
use pi_subagents_view::{Column, Line, Role, table};
use pi_subagents_vocabulary::text::one_line;
use serde_json::{Value, json};

use crate::sheet::Sheet;
use pi_subagents_fleet::values::{FleetLoad, OtherRun};
use pi_subagents_fleet::{OwnFleet, PoolLoad, WorkerCard};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;

/// The columns from left to right.
const COLUMNS: [Column; 4] = [
    Column::whole("POOL", 0),
    Column::number("QUEUED", 0),
    Column::number("RUNNING", 0),
    Column::words("WORKERS", 0, 12, 60),
];

/// The columns of the runs that were asked for elsewhere.
const RUN_COLUMNS: [Column; 4] = [
    Column::whole("RUN OF ANOTHER MACHINE", 0),
    Column::words("TASK", 0, 12, 30),
    Column::words("ASKED BY", 0, 10, 30),
    Column::words("WORKER", 0, 10, 30),
];

/// Prints how busy each pool is, and what others have under way there.
pub(super) fn run(places: &Places, printer: Printer) -> Result<ExitCode, CommandError> {
    let fleet = OwnFleet::of_user(places)?;
    // A run that is not known here is shown as somebody else's.
    let known = Store::new(&places.agent_dir).runs().unwrap_or_default();
    let FleetLoad {
        pools,
        workers,
        others,
    } = block_on(fleet.load(places, &known))?;
    if printer.is_json() {
        let pools: Vec<_> = pools
            .iter()
            .map(|pool| {
                json!({"pool": pool.pool, "queued": pool.queued, "running": pool.running,
                    "workers": taking(&workers, pool)})
            })
            .collect();
        let others: Vec<_> = others.iter().map(to_json).collect();
        printer.json(&json!({"pools": pools, "runsOfOthers": others}));
        return Ok(ExitCode::SUCCESS);
    }
    let sheet = Sheet::of_stdout(places);
    let rows = pools
        .iter()
        .map(|pool| pool_row(pool, &taking(&workers, pool)));
    let rows = rows.collect();
    let mut lines = table(&COLUMNS, rows, sheet.columns());
    if !others.is_empty() {
        lines.push(Line::default());
        let rows = others.iter().map(run_row).collect();
        lines.extend(table(&RUN_COLUMNS, rows, sheet.columns()));
    }
    printer.painted(&sheet.text(&lines));
    Ok(ExitCode::SUCCESS)
}

/// Returns the names of the workers that take runs of a pool.
fn taking<'a>(workers: &'a [(String, WorkerCard)], pool: &PoolLoad) -> Vec<&'a str> {
    let takes = |card: &WorkerCard| card.pools.contains(&pool.pool);
    let taking = workers.iter().filter(|(_, card)| takes(card));
    taking.map(|(name, _)| name.as_str()).collect()
}

fn pool_row(pool: &PoolLoad, workers: &[&str]) -> Vec<Line> {
    let workers = if workers.is_empty() {
        Line::new(Role::Warning, "no worker")
    } else {
        Line::new(Role::Plain, &workers.join(", "))
    };
    vec![
        Line::new(Role::Title, &pool.pool),
        Line::new(Role::Plain, &pool.queued.to_string()),
        Line::new(Role::Plain, &pool.running.to_string()),
        workers,
    ]
}

fn run_row(other: &OtherRun) -> Vec<Line> {
    let worker = match &other.worker {
        Some(worker) => Line::new(Role::Plain, worker),
        None => Line::new(Role::Muted, "queued"),
    };
    vec![
        Line::new(Role::Title, other.run.as_str()),
        Line::new(Role::Plain, &one_line(&other.card.name)),
        Line::new(Role::Plain, &one_line(&other.card.caller)),
        worker,
    ]
}

fn to_json(other: &OtherRun) -> Value {
    json!({"runId": other.run.as_str(), "sessionId": other.card.session, "name": other.card.name,
        "caller": other.card.caller, "pool": other.card.pool, "worker": other.worker})
}
