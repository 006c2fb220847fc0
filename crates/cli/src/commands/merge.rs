//! `merge`: brings the changes of runs into this checkout, or shows which of them would fit.

mod resolve;

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_git::Repository;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::one_line;

pub(crate) use self::resolve::ResolveResult;
use crate::commands::control::each_conversation;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::acts::{self, Checkout, WantedChanges};
use pi_subagents_runs::merging::{Fit, HeldBackFiles, MergeReport, MergedAs, ToMerge};
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::workspace::{Workspace, waiting_results};

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag that is given or not"
)]
pub(crate) struct MergeArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents; without any, the results that wait are named, and with --check compared
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Show which results fit this checkout, with its uncommitted changes, and change nothing
    #[arg(long, conflicts_with = "commit")]
    check: bool,
    /// Make a commit of each run instead of uncommitted changes
    #[arg(long)]
    commit: bool,
    /// Make a new branch on HEAD with a commit of each run; this checkout is not touched
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "commit", "resolve", "force"])]
    branch: Option<String>,
    /// With --branch, print the commands that publish the branch and propose it on its forge
    #[arg(long, requires = "branch")]
    pr: bool,
    /// Let the sub-agent of one run resolve its conflicts in its own worktree; this checkout is not touched
    #[arg(long, conflicts_with_all = ["check", "commit", "force"])]
    resolve: bool,
    /// Merge also copies of ignored files that a sub-agent has added to git, and untracked files above 10 MB
    #[arg(long, conflicts_with = "check")]
    force: bool,
}

pub(crate) fn run(args: &MergeArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let ids = if args.ids.is_empty() {
        let waiting = waiting_here(&index.runs().map_err(find_failure)?, &places);
        if !args.check {
            return Err(which(&waiting));
        }
        if waiting.is_empty() {
            return Err(CommandError::no_answer("no result waits to be merged here")
                .hint("pi-subagents worktrees --all lists what was merged or discarded."));
        }
        waiting.iter().map(|(run, _)| run.run.to_string()).collect()
    } else {
        args.ids.clone()
    };
    if args.resolve {
        return resolve::run(&ids, printer);
    }
    let typed = TypedIds::newest(&index, &places, printer);
    let changes = changes_of(typed, &ids)?;
    if args.check {
        return check(changes, printer);
    }
    if let Some(name) = &args.branch {
        return branch(changes, name, args, printer);
    }
    let merged_as = if args.commit {
        MergedAs::Commits
    } else {
        MergedAs::Changes
    };
    let copies = if args.force {
        HeldBackFiles::Merged
    } else {
        HeldBackFiles::Refused
    };
    let report = acts::merge(changes, merged_as, copies)?;
    print(&report, printer);
    Ok(exit::of_some(report.merged_count(), report.merged.len()))
}

/// Lists the runs whose results wait in this repository, the newest of each worktree.
fn waiting_here(runs: &[IndexedRun], places: &Places) -> Vec<(IndexedRun, Workspace)> {
    let here = Repository::find(&places.cwd).ok();
    let is_here = |one: &Workspace| {
        let other = Repository::find(&one.repository).ok();
        let other = other.as_ref().map(Repository::common_dir);
        other.is_some() && other == here.as_ref().map(Repository::common_dir)
    };
    let waiting = waiting_results(runs).into_iter();
    waiting
        .filter(|(_, workspace)| is_here(workspace))
        .collect()
}

/// Returns the error that no run was named, with those that could be.
fn which(waiting: &[(IndexedRun, Workspace)]) -> CommandError {
    let error = CommandError::usage("name a run to merge");
    if waiting.is_empty() {
        return error.hint("Nothing waits to be merged here; pi-subagents worktrees lists all.");
    }
    let hints = waiting.iter().map(|(run, workspace)| {
        let words = workspace.words(run.run.as_str(), Door::CommandLine);
        format!("{}: {words}", one_line(&run.name))
    });
    hints.fold(error, CommandError::hint)
}

/// Finds the changes that ids stand for.
pub(super) fn changes_of(typed: TypedIds<'_>, ids: &[String]) -> Result<ToMerge, CommandError> {
    let conversations = each_conversation(typed, ids, "merge")?;
    let wanted = WantedChanges {
        places: typed.places,
        known: &typed.index.runs().map_err(find_failure)?,
        checkout: Checkout::Here,
    };
    wanted.find(&conversations)
}

/// Makes a branch of the changes, and says how it is published.
fn branch(
    changes: ToMerge,
    name: &str,
    args: &MergeArgs,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let report = acts::branch(changes, name)?;
    if printer.is_json() {
        printer.json(&report.printed());
    } else {
        for line in report.lines() {
            printer.data(&line);
        }
        if args.pr && report.commits() > 0 {
            for command in report.publish() {
                printer.data(&command);
            }
        } else if report.commits() > 0 {
            printer
                .note("hint: the results still wait here; pi-subagents discard ID sets one aside.");
        }
    }
    Ok(exit::of_some(report.commits(), report.asked()))
}

fn check(changes: ToMerge, printer: Printer) -> Result<ExitCode, CommandError> {
    let (merged, all) = acts::check(changes, |fit| {
        print_fit(fit, printer);
        fit.would_merge()
    })?;
    Ok(exit::of_some(merged, all))
}

pub(super) fn print_fit(fit: &Fit<'_>, printer: Printer) {
    if printer.is_json() {
        printer.json(&fit.printed());
    } else {
        printer.data(&fit.table());
        for line in fit.missing_lines() {
            printer.data(&line);
        }
        for note in &fit.notes {
            printer.note(&format!("! {note}"));
        }
    }
}

fn print(report: &MergeReport, printer: Printer) {
    if printer.is_json() {
        printer.json(&report.printed());
        return;
    }
    for line in report.lines() {
        printer.data(&line);
    }
    for warning in &report.warnings {
        printer.note(&format!("! {warning}"));
    }
    if let Some(run) = report.first_conflicting() {
        let run = &run.run;
        printer.note(&format!(
            "hint: pi-subagents merge {run} --resolve lets its sub-agent resolve the conflicts."
        ));
    }
}
