//! `worktrees`, `keep` and `discard`: the worktrees of runs, and what becomes of those that nobody
//! wants.

mod discard;
mod keep;
mod prune;
mod worktree_list;

use crate::places::find_places;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pi_subagents_records::IndexedRun;

pub(crate) use self::discard::{DiscardArgs, DiscardResult, discard};
pub(crate) use self::keep::{KeepArgs, KeepResult, keep};
pub(crate) use self::prune::PruneResult;
pub(crate) use self::worktree_list::WorktreesResult;
use self::worktree_list::{Listed, print_list};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::workspace::{
    Stray, Workspace, WorkspaceState, newest_results, settle, strays, worktrees_folder,
};

#[derive(Args)]
pub(crate) struct WorktreesArgs {
    /// Action to take instead of listing them
    #[arg(value_enum)]
    action: Option<Action>,
    /// List also worktrees that were merged, discarded or left unchanged, and runs in whose worktree a later one has worked
    #[arg(long)]
    all: bool,
}

/// Something that is done with all worktrees.
#[derive(Clone, Copy, ValueEnum)]
enum Action {
    /// Remove directories of runs that ended a week ago; their results stay in git until they are merged or discarded
    Prune,
}

/// A run and its worktree.
struct Found {
    run: IndexedRun,
    workspace: Workspace,
}

/// Lists the worktrees of runs and the results of fleets, or removes old worktrees.
pub(crate) fn list(args: &WorktreesArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let runs = index.runs().map_err(find_failure)?;
    if let Some(Action::Prune) = args.action {
        return Ok(prune::run(&runs, printer));
    }
    let found: Vec<Found> = runs.iter().cloned().filter_map(found).collect();
    let strays = strays_of(&places, &found);
    let shown = if args.all {
        found
    } else {
        let there = found.into_iter();
        let there = there.filter(|found| is_there(&found.workspace));
        newest_results(there.collect(), |found| &found.workspace)
    };
    print_list(&Listed::of(shown), &strays, printer);
    Ok(ExitCode::SUCCESS)
}

/// Looks at the worktree of a run.
fn found(run: IndexedRun) -> Option<Found> {
    let workspace = if run.is_open() {
        Workspace::read(run.directory.path())?
    } else {
        settle(run.directory.path(), &run.run)?
    };
    Some(Found { run, workspace })
}

/// Lists what lies in the folder of worktrees and no run knows.
fn strays_of(places: &Places, found: &[Found]) -> Vec<Stray> {
    let settings = Configuration::read_once(places, false).settings;
    let folder = worktrees_folder(&places.home, settings.worktrees.directory.as_deref());
    let known: Vec<Workspace> = found.iter().map(|found| found.workspace.clone()).collect();
    strays(&folder, &known)
}

/// Returns whether a worktree is still to be merged or discarded, or in use.
fn is_there(workspace: &Workspace) -> bool {
    match workspace.state {
        WorkspaceState::Planned
        | WorkspaceState::Ready
        | WorkspaceState::Captured
        | WorkspaceState::Uncaptured => true,
        WorkspaceState::Unchanged | WorkspaceState::Merged | WorkspaceState::Discarded => false,
    }
}
