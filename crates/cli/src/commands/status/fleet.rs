//! `status --fleet`: the pools of the fleet, and the runs in them that were asked for elsewhere.

use std::collections::BTreeMap;
use std::process::ExitCode;

use pi_subagents_records::Store;
use pi_subagents_view::figures;
use pi_subagents_view::{Column, Line, Role, table};
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::one_line;
use schemars::JsonSchema;
use serde::Serialize;

use pi_subagents_fleet::values::{FleetLoad, OtherRun};
use pi_subagents_fleet::{OwnFleet, PoolLoad, Storage, WorkerCard};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;

/// The columns from left to right.
const COLUMNS: [Column; 5] = [
    Column::whole("POOL", 0),
    Column::number("QUEUED", 0),
    Column::number("OLDEST", 1),
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
        endings,
        begun_again,
        storage,
    } = block_on(fleet.load(places, &known))?;
    if printer.is_json() {
        let pools = pools.iter().map(|pool| PrintedPool {
            pool: &pool.pool,
            queued: pool.queued,
            oldest_seconds: pool.oldest.map(|oldest| oldest.as_secs()),
            running: pool.running,
            workers: taking(&workers, pool),
        });
        printer.json(&FleetStatusResult {
            pools: pools.collect(),
            runs_of_others: others.iter().map(RunOfOther::of).collect(),
            endings: &endings,
            begun_again,
            store: PrintedStore::of(&storage),
        });
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
    lines.push(Line::default());
    lines.extend(store_lines(&storage));
    printer.painted(&sheet.text(&lines));
    Ok(ExitCode::SUCCESS)
}

/// Says how much the servers keep, and what is wrong with that.
fn store_lines(storage: &Storage) -> Vec<Line> {
    let kept = figures::bytes(storage.bytes);
    let kept = match storage.limit {
        Some(limit) => format!("{kept} of at most {} kept", figures::bytes(limit)),
        None => format!("{kept} kept"),
    };
    let mut lines = vec![Line::new(Role::Muted, &kept)];
    if let Some(refusal) = &storage.refusal {
        lines.push(Line::new(Role::Failed, &format!("full: {refusal}")));
    }
    for server in &storage.lagging {
        let state = if server.is_offline { "away" } else { "behind" };
        let words = format!("server {} is {state}", server.server);
        lines.push(Line::new(Role::Warning, &words));
    }
    lines
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
        Line::new(
            Role::Plain,
            &pool.oldest.map_or(String::new(), figures::clock),
        ),
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

/// The JSON of `status --fleet`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FleetStatusResult<'a> {
    pools: Vec<PrintedPool<'a>>,
    /// The runs in progress that this machine does not know.
    runs_of_others: Vec<RunOfOther<'a>>,
    /// The number of runs that ended with each status in the last 30 days.
    endings: &'a BTreeMap<String, u64>,
    /// The number of those that were begun more than once, because a worker was lost.
    begun_again: u64,
    store: PrintedStore<'a>,
}

/// The store of the fleet on its servers.
#[derive(Serialize, JsonSchema)]
struct PrintedStore<'a> {
    /// The number of bytes that the servers keep for the fleet.
    bytes: u64,
    /// The number of bytes that the account may keep, if it has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// Why the servers keep nothing more, if they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    /// The servers without a good copy of what they should keep.
    lagging: Vec<PrintedServer<'a>>,
}

/// A server that is away or behind.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedServer<'a> {
    server: &'a str,
    /// True if the other servers do not reach it.
    offline: bool,
    /// The time since the others last heard of it.
    silent_seconds: u64,
    streams: &'a [String],
}

impl<'a> PrintedStore<'a> {
    fn of(storage: &'a Storage) -> Self {
        let lagging = storage.lagging.iter().map(|server| PrintedServer {
            server: &server.server,
            offline: server.is_offline,
            silent_seconds: server.silent_for.as_secs(),
            streams: &server.streams,
        });
        Self {
            bytes: storage.bytes,
            limit: storage.limit,
            refusal: storage.refusal.as_deref(),
            lagging: lagging.collect(),
        }
    }
}

/// A pool of a fleet.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedPool<'a> {
    pool: &'a str,
    /// The number of runs without a worker.
    queued: u64,
    /// The time for which the oldest of them has waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_seconds: Option<u64>,
    /// The number of runs that a worker has.
    running: u64,
    /// The workers that take tasks from it.
    workers: Vec<&'a str>,
}

/// A run that somebody on another machine asked for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunOfOther<'a> {
    run_id: &'a RunId,
    session_id: &'a str,
    /// The name of the task.
    name: &'a str,
    /// Who asked for it.
    caller: &'a str,
    pool: &'a str,
    /// The worker that has it, unless it is queued.
    worker: Option<&'a str>,
}

impl<'a> RunOfOther<'a> {
    fn of(other: &'a OtherRun) -> Self {
        Self {
            run_id: &other.run,
            session_id: &other.card.session,
            name: &other.card.name,
            caller: &other.card.caller,
            pool: &other.card.pool,
            worker: other.worker.as_deref(),
        }
    }
}
