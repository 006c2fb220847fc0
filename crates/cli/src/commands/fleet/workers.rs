//! `fleet workers`: the present workers of the fleet, and their load.

use std::process::ExitCode;

use pi_subagents_view::{Column, Line, Role, table};
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::count;
use schemars::JsonSchema;
use serde::Serialize;

use crate::places::find_places;
use pi_subagents_fleet::{OwnFleet, WorkerCard};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;

pub(super) const EXAMPLES: &str = "\
Examples:
  pi-subagents fleet workers
  pi-subagents fleet workers --json";

/// The columns from left to right.
const COLUMNS: [Column; 7] = [
    Column::whole("WORKER", 0),
    Column::words("POOLS", 0, 12, 30),
    Column::number("RUNS", 0),
    Column::number("FREE", 0),
    Column::whole("SINCE", 2),
    Column::whole("VERSION", 3),
    Column::words("MODELS", 1, 20, 60),
];

pub(super) fn run(printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let fleet = OwnFleet::of_user(&places)?;
    let workers = block_on(fleet.workers(&places))?;
    if printer.is_json() {
        let workers = workers.iter().map(|(name, card)| NamedCard { name, card });
        printer.json(&WorkersResult {
            workers: workers.collect(),
        });
        return Ok(ExitCode::SUCCESS);
    }
    if workers.is_empty() {
        printer.data("No worker is there.");
        printer.note(
            "\nStart one on a machine that has this fleet in its settings:   pi-subagents fleet work",
        );
        return Ok(ExitCode::SUCCESS);
    }
    let sheet = Sheet::of_stdout(&places);
    let now = Timestamp::now();
    let rows: Vec<Vec<Line>> = workers
        .iter()
        .map(|(name, card)| cells(name, card, &sheet, now))
        .collect();
    let mut lines = table(&COLUMNS, rows, sheet.columns());
    let taking = workers.iter().filter(|(_, card)| !card.draining);
    let free: u32 = taking.map(|(_, card)| card.free).sum();
    let words = format!(
        "{}, {} free",
        count(workers.len(), "worker"),
        count(usize::try_from(free).unwrap_or(usize::MAX), "place")
    );
    lines.push(Line::default());
    lines.push(Line::new(Role::Muted, &words));
    printer.painted(&sheet.text(&lines));
    Ok(ExitCode::SUCCESS)
}

/// The JSON of `fleet workers`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorkersResult<'a> {
    workers: Vec<NamedCard<'a>>,
}

/// The card of a worker with its name.
#[derive(Serialize, JsonSchema)]
struct NamedCard<'a> {
    name: &'a str,
    #[serde(flatten)]
    card: &'a WorkerCard,
}

fn cells(name: &str, card: &WorkerCard, sheet: &Sheet, now: Timestamp) -> Vec<Line> {
    let plain = |words: &str| Line::new(Role::Plain, words);
    let since = card.since.parse::<Timestamp>().ok();
    let since = since.map_or(String::new(), |since| sheet.moment(since, now));
    let free = if card.draining {
        "draining".to_owned()
    } else {
        card.free.to_string()
    };
    vec![
        Line::new(Role::Title, name),
        plain(&card.pools.join(", ")),
        plain(&card.runs.len().to_string()),
        plain(&free),
        plain(&since),
        plain(&card.version),
        Line::new(Role::Muted, &card.models.join(", ")),
    ]
}
