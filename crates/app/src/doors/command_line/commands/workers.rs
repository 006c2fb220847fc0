//! `workers`: the present workers of the fleet, and their load.

use std::process::ExitCode;

use pi_subagents_delegation::Timestamp;
use pi_subagents_delegation::text::count;
use pi_subagents_fleet::wire::WorkerCard;
use pi_subagents_windows::{Column, Line, Role, table};
use serde_json::{Value, json};

use crate::doors::command_line::sheet::Sheet;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::fleet::connection::{connect, no_fleet, settings_of_user, unreachable};
use crate::runtime::block_on;

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

pub(crate) fn run(printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let settings = settings_of_user(&places);
    if !settings.is_configured() {
        return Err(no_fleet());
    }
    let workers = block_on(async {
        let fleet = connect(&settings, &places).await?;
        let workers = fleet.workers().await.map_err(unreachable)?;
        fleet.close().await;
        Ok(workers)
    })?;
    if printer.is_json() {
        let workers: Vec<Value> = workers.iter().map(to_json).collect();
        printer.json(&json!({"workers": workers}));
        return Ok(ExitCode::SUCCESS);
    }
    if workers.is_empty() {
        printer.data("No worker is there.");
        printer.note(
            "\nStart one on a machine that has this fleet in its settings:   pi-subagents worker",
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
    let free: u32 = workers.iter().map(|(_, card)| card.free).sum();
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

fn to_json((name, card): &(String, WorkerCard)) -> Value {
    let mut value = json!(card);
    if let Value::Object(fields) = &mut value {
        fields.insert("name".to_owned(), json!(name));
    }
    value
}
