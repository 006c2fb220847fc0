//! `merge`: brings what runs have changed into this checkout, or says what would fit.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_sessions::{Prefers, Store};
use pi_subagents_workspaces::Repository;

use crate::doors::command_line::commands::control::runs_of_all;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::conversation::of_one_conversation;
use crate::runs::merging::{Fit, MergeReport, MergedAs, checkout_at, merge};
use crate::runs::results::RunResult;
use crate::runs::typed::TypedIds;

#[derive(Args)]
pub(crate) struct MergeArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or definitions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Say what fits this checkout, with its uncommitted changes, and change nothing
    #[arg(long, conflicts_with = "commit")]
    check: bool,
    /// Make a commit of each run instead of uncommitted changes
    #[arg(long)]
    commit: bool,
}

pub(crate) fn run(args: &MergeArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let typed = TypedIds {
        store: &store,
        places: &places,
        printer,
        prefers: Prefers::Newest,
    };
    let mut results = Vec::new();
    for id in &args.ids {
        let runs = runs_of_all(typed, std::slice::from_ref(id), "merge", |runs| {
            of_one_conversation(runs, None)
        })?;
        results.push(RunResult::of_latest(&runs)?);
    }
    let checkout = checkout_at(&places.cwd, &results)?;
    if args.check {
        return check(&checkout, &results, printer);
    }
    let merged_as = if args.commit {
        MergedAs::Commits
    } else {
        MergedAs::Changes
    };
    let report = merge(&checkout, results, merged_as)?;
    print(&report, printer);
    Ok(exit_code(&report))
}

fn check(
    checkout: &Repository,
    results: &[RunResult],
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let fit = Fit::of(checkout, results)?;
    if printer.is_json() {
        printer.json(&fit.to_json());
    } else {
        printer.data(&fit.table());
    }
    Ok(ExitCode::from(u8::from(!fit.is_clean())))
}

fn print(report: &MergeReport, printer: Printer) {
    if printer.is_json() {
        printer.json(&report.to_json());
        return;
    }
    for line in report.lines() {
        printer.data(&line);
    }
    for warning in &report.warnings {
        printer.note(&format!("! {warning}"));
    }
}

/// Returns 0 if all were merged, 4 if some were, and 1 if none was.
fn exit_code(report: &MergeReport) -> ExitCode {
    match report.merged_count() {
        all if all == report.merged.len() => ExitCode::SUCCESS,
        0 => ExitCode::from(1),
        _ => ExitCode::from(4),
    }
}
