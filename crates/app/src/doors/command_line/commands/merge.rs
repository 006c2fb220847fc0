//! `merge`: brings the changes of runs into this checkout, or shows which of them would fit.

mod resolve;

use std::process::ExitCode;

use clap::Args;
use pi_subagents_sessions::{Store, runs_of_session};
use pi_subagents_workspaces::Repository;

use crate::doors::command_line::commands::control::conversations_of;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::fleet::fetch_missing;
use crate::runs::merging::{AddedCopies, Fit, MergeReport, MergedAs, checkout_at, merge_with};
use crate::runs::results::{Results, RunResult};
use crate::runs::typed::TypedIds;

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag that is given or not"
)]
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
    /// Let the sub-agent of one run resolve its conflicts in its own worktree; this checkout is not touched
    #[arg(long, conflicts_with_all = ["check", "commit", "force"])]
    resolve: bool,
    /// Merge also copies of ignored files that a sub-agent has added to git
    #[arg(long, conflicts_with = "check")]
    force: bool,
}

pub(crate) fn run(args: &MergeArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    if args.resolve {
        return resolve::run(&args.ids, printer);
    }
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let typed = TypedIds::newest(&store, &places, printer);
    let mut found = Results::here(&places.cwd);
    let results = args.ids.iter().map(|id| result_of(typed, &mut found, id));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let checkout = checkout_at(&places.cwd, &results)?;
    if args.check {
        return check(&checkout, &results, printer);
    }
    let merged_as = if args.commit {
        MergedAs::Commits
    } else {
        MergedAs::Changes
    };
    let copies = if args.force {
        AddedCopies::Merged
    } else {
        AddedCopies::Refused
    };
    let report = merge_with(&checkout, results, merged_as, copies)?;
    print(&report, printer);
    Ok(exit_code(&report))
}

/// Finds the result that an id stands for.
fn result_of(
    typed: TypedIds<'_>,
    results: &mut Results,
    id: &str,
) -> Result<RunResult, CommandError> {
    let ids = [id.to_owned()];
    let runs = conversations_of(typed, &ids, "merge")?;
    let missing = fetch_missing(typed.places, &runs);
    let result = results
        .of_latest(&runs)
        .map_err(|error| because(error, missing))?;
    let session = result.run.session.clone();
    Ok(result.with_earlier(&runs_of_session(&typed.store.runs()?, &session)))
}

/// Returns why there is no result: its changes could not be fetched from its fleet, if that was
/// tried, else the error that was found here.
pub(super) fn because(error: CommandError, missing: Result<(), String>) -> CommandError {
    match missing {
        Ok(()) => error,
        Err(why) => CommandError::failed(why),
    }
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
        for note in &fit.notes {
            printer.note(&format!("! {note}"));
        }
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
