//! `keep`: a worktree that is never removed by itself.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_vocabulary::RunId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::control::each_conversation;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::acts::{self, KeepReport, Keeping};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::no_result::{NoResult, PrintedNoResult};
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend;

#[derive(Args)]
pub(crate) struct KeepArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Allow automatic removal again
    #[arg(long)]
    undo: bool,
}

/// Notes that worktrees are kept, or that they are not.
pub(crate) fn keep(args: &KeepArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let typed = TypedIds::newest(&index, &places, printer);
    let conversations = each_conversation(typed, &args.ids, "keep")?;
    let keeping = if args.undo {
        Keeping::GoesWhenOld
    } else {
        Keeping::Stays
    };
    let report = acts::keep(&conversations, keeping);
    if report.kept.is_empty() {
        return Err(NoResult::all(report.without));
    }
    print(&report, keeping, printer);
    let kept = report.kept.len();
    Ok(exit::of_some(kept, kept + report.without.len()))
}

/// The JSON of `keep`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeepResult<'a> {
    worktrees: Vec<KeptWorktree<'a>>,
    /// The runs that have no worktree to keep.
    without_result: Vec<PrintedNoResult<'a>>,
}

/// A worktree that is kept, or not any more.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptWorktree<'a> {
    run_id: &'a RunId,
    /// The name of the task.
    name: &'a str,
    /// True if it is never removed by itself.
    kept: bool,
}

fn print(report: &KeepReport, keeping: Keeping, printer: Printer) {
    if printer.is_json() {
        let worktrees = report.kept.iter().map(|run| KeptWorktree {
            run_id: &run.run,
            name: &run.name,
            kept: keeping == Keeping::Stays,
        });
        printer.json(&KeepResult {
            worktrees: worktrees.collect(),
            without_result: report.without.iter().map(NoResult::printed).collect(),
        });
        return;
    }
    for run in &report.kept {
        printer.data(&keeping.sentence(run));
    }
    for without in &report.without {
        printer.data(&without.line());
    }
}
