//! `merge`: brings what runs have changed into this checkout, or says what would fit.

mod matrix;
mod report;

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::text::one_line;
use pi_subagents_sessions::{IndexedRun, Prefers, Store};
use pi_subagents_workspaces::{Change, Matrix, Merge, Outcome, Pin, Repository, pin};

use self::report::{Merged, print_merged};
use crate::doors::command_line::commands::control::runs_of_all;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::conversation::of_one_conversation;
use crate::runs::results::{RunResult, failed};
use crate::runs::typed::TypedIds;
use crate::runs::workspace::{WorkspaceState, matrix_table, note_state, take_away};

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
    let checkout = checkout(&places, &results)?;
    if args.check {
        return check(&checkout, &results, printer);
    }
    merge(&checkout, results, args.commit, printer)
}

/// Returns the checkout that is merged into: the one we were started in, which must be of the
/// repository that all runs worked on.
fn checkout(places: &Places, results: &[RunResult]) -> Result<Repository, CommandError> {
    let found = Repository::find(&places.cwd).map_err(|error| failed(&error));
    let other = |result: &RunResult| match &found {
        Ok(checkout) => result.repository.common_dir() != checkout.common_dir(),
        Err(_) => true,
    };
    let Some(result) = results.iter().find(|result| other(result)) else {
        return found;
    };
    let words = format!(
        "{} worked on another repository than this one",
        result.run.run
    );
    let top = result.repository.top().display();
    Err(CommandError::usage(words).hint(format!("Change to {top} first.")))
}

fn check(
    checkout: &Repository,
    results: &[RunResult],
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let changes: Vec<Change> = results.iter().map(|result| result.change.clone()).collect();
    let matrix = Matrix::of(checkout, &changes).map_err(|error| failed(&error))?;
    let names: Vec<String> = results.iter().map(|result| name_of(&result.run)).collect();
    if printer.is_json() {
        printer.json(&matrix::to_json(results, &matrix));
    } else {
        printer.data(&matrix_table(&names, &matrix));
    }
    Ok(ExitCode::from(u8::from(!matrix.is_clean())))
}

fn merge(
    checkout: &Repository,
    results: Vec<RunResult>,
    is_committed: bool,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let mut merging = Merge::begin(checkout).map_err(|error| failed(&error))?;
    let mut done = Vec::new();
    for result in results {
        let outcome = if is_committed {
            merging.commit(&result.change, &message(&result.run))
        } else {
            merging.apply(&result.change)
        };
        let outcome = outcome.map_err(|error| failed(&error))?;
        done.push(Merged { result, outcome });
    }
    drop(merging);
    let mut problems = Vec::new();
    for merged in done.iter_mut().filter(|merged| merged.is_in()) {
        problems.extend(tidy(checkout, &mut merged.result).err());
    }
    print_merged(&done, &problems, printer);
    Ok(exit_code(&done))
}

/// Notes that a result was merged, and removes the worktree that it came from.
fn tidy(checkout: &Repository, result: &mut RunResult) -> Result<(), String> {
    let run = &result.run;
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", name_of(run));
    pin(
        checkout,
        run.run.as_str(),
        Pin::Merged,
        &result.change.result,
    )
    .map_err(|error| named(&error))?;
    let Some(workspace) = &mut result.workspace else {
        return Ok(());
    };
    // Somebody who merges from inside it wants to stay there.
    if checkout.top() == workspace.path {
        return Ok(());
    }
    take_away(workspace, run.directory.path(), WorkspaceState::Merged)
        .map_err(|error| named(&error))?;
    for directory in &result.earlier {
        note_state(directory, WorkspaceState::Merged);
    }
    Ok(())
}

/// Words the commit of a run.
fn message(run: &IndexedRun) -> String {
    format!("{}\n\nSub-agent-run: {}\n", name_of(run), run.run)
}

fn name_of(run: &IndexedRun) -> String {
    one_line(&run.name)
}

/// Returns 0 if all were merged, 4 if some were, and 1 if none was.
fn exit_code(done: &[Merged]) -> ExitCode {
    let merged = done.iter().filter(|merged| merged.is_in()).count();
    match merged {
        all if all == done.len() => ExitCode::SUCCESS,
        0 => ExitCode::from(1),
        _ => ExitCode::from(4),
    }
}

impl Merged {
    /// Returns whether the checkout has the change now.
    fn is_in(&self) -> bool {
        match &self.outcome {
            Outcome::Merged { .. } | Outcome::Nothing => true,
            Outcome::Conflicts(_)
            | Outcome::NeedsUncommitted(_)
            | Outcome::InTheWay(_)
            | Outcome::ChangedMeanwhile(_) => false,
        }
    }
}
