//! `keep`: a worktree that is never removed by itself.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::commands::control::each_conversation;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::acts::{self, KeepReport, Keeping};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::no_result::NoResult;
use pi_subagents_runs::tending::tend;
use pi_subagents_runs::typed::TypedIds;

#[derive(Args)]
pub(crate) struct KeepArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or definitions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Let it be removed again when it is old
    #[arg(long)]
    undo: bool,
}

/// Notes that worktrees are kept, or that they are not.
pub(crate) fn keep(args: &KeepArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
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

fn print(report: &KeepReport, keeping: Keeping, printer: Printer) {
    if printer.is_json() {
        let is_kept = keeping == Keeping::Stays;
        let kept = report
            .kept
            .iter()
            .map(|run| json!({"runId": run.run.as_str(), "name": run.name, "kept": is_kept}));
        let without = report.without.iter().map(NoResult::to_json);
        printer.json(&json!({
            "runs": kept.collect::<Vec<_>>(),
            "withoutResult": without.collect::<Vec<_>>(),
        }));
        return;
    }
    for run in &report.kept {
        printer.data(&keeping.sentence(run));
    }
    for without in &report.without {
        printer.data(&without.line());
    }
}
