//! `discard`: removes worktrees whose results nobody wants.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::{count, one_line};
use schemars::JsonSchema;
use serde::Serialize;

use super::worktree_list::lines;
use crate::commands::control::each_conversation;
use crate::places::find_places;
use pi_subagents_definition_commands::ask::{self, AtTerminal, Person as _};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::acts::ToDiscard;
use pi_subagents_runs::merging::{DiscardReport, Uncaptured};
use pi_subagents_runs::no_result::{NoResult, PrintedNoResult};
use pi_subagents_runs::typed_ids::TypedIds;

#[derive(Args)]
pub(crate) struct DiscardArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Discard also worktrees whose files could not be kept; uncommitted files in them are lost
    #[arg(long)]
    force: bool,
}

/// Removes worktrees whose results nobody wants.
pub(crate) fn discard(args: &DiscardArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let typed = TypedIds::newest(&index, &places, printer);
    let conversations = each_conversation(typed, &args.ids, "discard")?;
    let known = index.runs().map_err(find_failure)?;
    let uncaptured = if args.force {
        Uncaptured::GivenUp
    } else {
        Uncaptured::Stays
    };
    let unwanted = ToDiscard::find_with(&known, &conversations, uncaptured);
    if unwanted.found.is_empty() {
        return Err(NoResult::all(unwanted.without));
    }
    if !args.yes {
        let person = AtTerminal { places: &places };
        if !ask::can_ask(&person, printer) {
            return Err(
                CommandError::usage("discard asks before it removes something")
                    .hint("Use --yes to discard without being asked."),
            );
        }
        for found in &unwanted.found {
            printer.note(&lines(&found.run, &found.workspace));
        }
        let question = format!("Discard {}?", count(unwanted.found.len(), "result"));
        match person.yes(&question, false) {
            Ok(Some(true)) => {}
            Ok(_) => return Ok(ask::nothing_written(printer)),
            Err(stopped) => return stopped.into_result(printer),
        }
    }
    let report = unwanted.discard();
    print(&report, printer);
    let done = report.discarded.len();
    Ok(exit::of_some(done, done + report.without.len()))
}

/// The JSON of `discard`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiscardResult<'a> {
    discarded: Vec<DiscardedResult<'a>>,
    /// The runs that have nothing to discard.
    without_result: Vec<PrintedNoResult<'a>>,
}

/// The result of a run that was discarded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiscardedResult<'a> {
    run_id: &'a RunId,
    /// The name of the task.
    name: &'a str,
    /// The ref under which git keeps the changes for 30 days.
    #[serde(rename = "ref")]
    kept_ref: Option<&'a str>,
}

fn print(report: &DiscardReport, printer: Printer) {
    if printer.is_json() {
        let discarded = report.discarded.iter().map(|one| DiscardedResult {
            run_id: &one.run.run,
            name: &one.run.name,
            kept_ref: one.result_ref.as_deref(),
        });
        printer.json(&DiscardResult {
            discarded: discarded.collect(),
            without_result: report.without.iter().map(NoResult::printed).collect(),
        });
        return;
    }
    for discarded in &report.discarded {
        printer.data(&format!("{}: discarded", one_line(&discarded.run.name)));
        if let Some(kept) = &discarded.result_ref {
            printer.note(&format!(
                "hint: for 30 days, git branch NAME {kept} gets it back."
            ));
        }
    }
    for without in &report.without {
        printer.data(&without.line());
    }
}
