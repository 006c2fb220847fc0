//! `wait`: returns when runs are over, prints their endings, and exits as they did.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend_records;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_records::IndexedRun;
use pi_subagents_view::Line;
use pi_subagents_vocabulary::{Door, RunId, Timestamp, text};
use tokio::time::sleep;

use crate::commands::control::runs_of_all;
use crate::places::find_places;
use crate::run_table::{run_table, totals_line};
use crate::runs_result::RunsResult;
use crate::waiting_line::WaitingLine;
use pi_subagents_ground::bell;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::acts::{Wait, Waited};
use pi_subagents_runs::find::current;
use pi_subagents_runs::fleet_outage::AwayNews;
use pi_subagents_runs::row::{RowTotals, RunRow};
use pi_subagents_runs::typed_ids::TypedIds;

/// The pause between two drawings of the line on a terminal.
const CLOCK: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents. A session stands for its runs in progress, or for its latest run if there are none
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Return when the first of the runs has ended
    #[arg(long)]
    any: bool,
}

pub(crate) fn run(args: &WaitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let typed = TypedIds::running(&index, &places, printer);
    let asked = runs_of_all(typed, &args.ids, "wait", current)?;
    let is_one_over = asked.iter().any(|run| !run.is_open());
    let mut unseen = Vec::new();
    if !(args.any && is_one_over) {
        let open = asked.iter().filter(|run| run.is_open()).cloned().collect();
        let line = WaitingLine::of_stderr(&places, printer);
        unseen = block_on(wait_for(
            &places,
            open,
            asked.len(),
            args.any,
            line,
            printer,
        ))?;
    }
    // The end of a run whose owner was killed meanwhile stands in no file yet.
    tend_records(&index, &places);
    let runs = index.again(&asked).map_err(find_failure)?;
    let mut over: Vec<RunRow> = runs.iter().map(RunRow::read).collect();
    over.retain(|row| row.is_over() || unseen.contains(&row.report.run_id));
    if !printer.is_quiet() && asked.iter().any(IndexedRun::is_open) {
        let ended: Vec<(&str, &str)> = over
            .iter()
            .map(|row| (row.report.name.as_str(), row.report.status.as_str()))
            .collect();
        bell::ring_for_ended(&ended);
    }
    if printer.is_json() {
        printer.json(&RunsResult { runs: &over });
    } else {
        print(&over, &Sheet::of_stdout(&places), printer);
    }
    // A run whose end was not seen did not complete, as far as anybody knows.
    Ok(exit::of_runs(
        over.iter().map(|row| row.report.exit_code.unwrap_or(1)),
    ))
}

/// Waits for all of the runs, or for the first one, and shows on a terminal which runs it waits
/// for. Returns the runs whose end was not seen.
async fn wait_for(
    places: &Places,
    mut runs: Vec<IndexedRun>,
    all: usize,
    any: bool,
    mut line: Option<WaitingLine>,
    printer: Printer<'_>,
) -> Result<Vec<RunId>, CommandError> {
    let mut unseen = Vec::new();
    let mut servers = AwayNews::default();
    let mut wait = Wait::begin(places, &runs);
    let note = |line: &Option<WaitingLine>, words: &str| {
        line.iter().for_each(WaitingLine::clear);
        printer.note(words);
    };
    loop {
        if let Some(news) = servers.look(runs.iter()) {
            note(&line, &format!("! {news}"));
        }
        if let Some(line) = line.as_mut().filter(|_| !runs.is_empty()) {
            line.draw(&runs, all);
        }
        let waited = tokio::select! {
            waited = wait.next() => waited,
            () = sleep(CLOCK) => continue,
        };
        match &waited {
            Some(Waited::Note(news)) => {
                note(&line, &news.words(Door::CommandLine));
                continue;
            }
            Some(Waited::Over(run)) => runs.retain(|one| one.run != *run),
            Some(Waited::Unseen(run)) => {
                runs.retain(|one| one.run != *run);
                unseen.push(run.clone());
            }
            None => {}
        }
        if any || waited.is_none() {
            line.iter().for_each(WaitingLine::clear);
            for news in wait.last_notes() {
                printer.note(&news.words(Door::CommandLine));
            }
            return Ok(unseen);
        }
    }
}

/// Prints how the runs ended as data, as a table on a terminal and else in a line each, and why some
/// did not complete as notes for people.
fn print(over: &[RunRow], sheet: &Sheet, printer: Printer) {
    if sheet.columns().is_some() && !over.is_empty() {
        let mut lines = run_table(over, sheet, Timestamp::now());
        if over.len() > 1 {
            lines.push(Line::default());
            lines.push(totals_line(&RowTotals::of(over.iter())));
        }
        printer.painted(&sheet.text(&lines));
    } else {
        for row in over {
            printer.data(&row.brief());
        }
    }
    for row in over {
        if let Some(error) = &row.report.error_message {
            let name = text::one_line(&row.report.name);
            printer.note(&format!("{name}: {}", text::one_line(error)));
        }
    }
}
