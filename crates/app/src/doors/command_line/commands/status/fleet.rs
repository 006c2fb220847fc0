//! `status --fleet`: the pools of the fleet, and the runs in them that were asked for elsewhere.

use std::process::ExitCode;

use pi_subagents_delegation::RunId;
use pi_subagents_delegation::text::one_line;
use pi_subagents_fleet::wire::{RunCard, RunEntry};
use pi_subagents_fleet::{Fleet, FleetError};
use pi_subagents_sessions::{IndexedRun, Store};
use pi_subagents_windows::{Column, Line, Role, table};
use serde_json::{Value, json};

use crate::doors::command_line::sheet::Sheet;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::fleet::Away;
use crate::runs::fleet::connection::{connect, no_fleet, settings_of_user, unreachable};
use crate::runtime::block_on;

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

/// A run under way that somebody on another machine asked for.
struct OtherRun {
    run: RunId,
    card: RunCard,
    /// The worker that has it; none while it is queued.
    worker: Option<String>,
}

/// Returns the runs under way that this machine does not know.
async fn other_runs(fleet: &Fleet, known: &[IndexedRun]) -> Result<Vec<OtherRun>, FleetError> {
    let (cards, entries) = (fleet.cards().await?, fleet.entries().await?);
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
    Ok(others.collect())
}

impl OtherRun {
    fn row(&self) -> Vec<Line> {
        let worker = match &self.worker {
            Some(worker) => Line::new(Role::Plain, worker),
            None => Line::new(Role::Muted, "queued"),
        };
        vec![
            Line::new(Role::Title, self.run.as_str()),
            Line::new(Role::Plain, &one_line(&self.card.name)),
            Line::new(Role::Plain, &one_line(&self.card.caller)),
            worker,
        ]
    }

    fn json(&self) -> Value {
        json!({"runId": self.run.as_str(), "sessionId": self.card.session, "name": self.card.name,
            "caller": self.card.caller, "pool": self.card.pool, "worker": self.worker})
    }
}

/// Prints how busy each pool is, and what others have under way there.
pub(super) fn run(places: &Places, printer: Printer) -> Result<ExitCode, CommandError> {
    let settings = settings_of_user(places);
    if !settings.is_configured() {
        return Err(no_fleet());
    }
    // A run that is not known here is shown as somebody else's.
    let known = Store::new(&places.agent_dir).runs().unwrap_or_default();
    let (pools, workers, others) = block_on(async {
        let fleet = connect(&settings, places).await;
        let fleet = fleet.map_err(|error| with_absence(error, &known))?;
        let pools = fleet.pools().await.map_err(unreachable)?;
        let workers = fleet.workers().await.map_err(unreachable)?;
        let others = other_runs(&fleet, &known).await.map_err(unreachable)?;
        fleet.close().await;
        Ok((pools, workers, others))
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
        let others: Vec<_> = others.iter().map(OtherRun::json).collect();
        printer.json(&json!({"pools": pools, "runsOfOthers": others}));
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
    let mut lines = table(&COLUMNS, rows, sheet.columns());
    if !others.is_empty() {
        lines.push(Line::default());
        let rows = others.iter().map(OtherRun::row).collect();
        lines.extend(table(&RUN_COLUMNS, rows, sheet.columns()));
    }
    printer.painted(&sheet.text(&lines));
    Ok(ExitCode::SUCCESS)
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

fn has_pool((_, card): &(String, pi_subagents_fleet::wire::WorkerCard), pool: &str) -> bool {
    card.pools.iter().any(|one| one == pool)
}
