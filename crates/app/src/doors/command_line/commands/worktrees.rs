//! `worktrees` and `discard`: the worktrees of runs, and what becomes of those that nobody wants.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_delegation::Timestamp;
use pi_subagents_delegation::text::{count, one_line};
use pi_subagents_sessions::{IndexedRun, Prefers, Store};
use pi_subagents_windows::figures;
use serde_json::{Value, json};

use crate::doors::command_line::commands::control::runs_of_all;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::profiles::ask::{self, AtTerminal, Person as _};
use crate::runs::conversation::of_one_conversation;
use crate::runs::merging::Discardable;
use crate::runs::owned::current_runs;
use crate::runs::typed::TypedIds;
use crate::runs::workspace::{Workspace, WorkspaceState, settle};

#[derive(Args)]
pub(crate) struct WorktreesArgs {
    /// List also worktrees that were merged, discarded or left unchanged
    #[arg(long)]
    all: bool,
}

#[derive(Args)]
pub(crate) struct DiscardArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or definitions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// A run and its worktree.
struct Found {
    run: IndexedRun,
    workspace: Workspace,
}

/// Lists the worktrees of runs.
pub(crate) fn list(args: &WorktreesArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let runs = current_runs(&Store::new(&places.agent_dir))?;
    let found = runs.into_iter().filter_map(|run| {
        let workspace = if run.is_open() {
            Workspace::read(run.directory.path())?
        } else {
            settle(run.directory.path(), &run.run)?
        };
        Some(Found { run, workspace })
    });
    let found = found.filter(|found| args.all || is_there(&found.workspace));
    let found: Vec<Found> = found.collect();
    if printer.is_json() {
        printer.json(&found.iter().map(to_json).collect::<Vec<_>>());
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        printer.note("no run has a worktree of its own");
        printer.note("hint: --isolation worktree gives each run one.");
    }
    for found in &found {
        printer.data(&lines(&found.run, &found.workspace));
    }
    Ok(ExitCode::SUCCESS)
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

fn lines(run: &IndexedRun, workspace: &Workspace) -> String {
    let age = Timestamp::now().duration_since(run.accepted_at);
    let age = figures::ago(Duration::try_from(age).unwrap_or_default());
    let gone = if workspace.path.exists() {
        ""
    } else {
        " (gone)"
    };
    let mut lines = vec![
        format!("{}  {}  {age}", one_line(&run.name), run.run),
        format!("  {}", workspace.line(run.run.as_str())),
        format!("  {}{gone}", workspace.path.display()),
    ];
    lines.extend(workspace.notes.iter().map(|note| format!("  ! {note}")));
    lines.join("\n")
}

fn to_json(found: &Found) -> Value {
    json!({
        "runId": found.run.run.as_str(),
        "sessionId": found.run.session.as_str(),
        "name": found.run.name,
        "workspace": found.workspace,
    })
}

/// Removes worktrees whose results nobody wants.
pub(crate) fn discard(args: &DiscardArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let typed = TypedIds {
        store: &store,
        places: &places,
        printer,
        prefers: Prefers::Newest,
    };
    let runs = runs_of_all(typed, &args.ids, "discard", |runs| {
        of_one_conversation(runs, None)
    })?;
    let mut found = Vec::new();
    for run in runs {
        found.extend(Discardable::of(run)?);
    }
    if found.is_empty() {
        return Err(CommandError::no_answer(
            "there is no result that could be discarded",
        ));
    }
    if !args.yes {
        let person = AtTerminal { places: &places };
        if !ask::can_ask(&person, printer) {
            return Err(
                CommandError::usage("discard asks before it removes something")
                    .hint("Use --yes to discard without being asked."),
            );
        }
        for found in &found {
            printer.note(&lines(&found.run, &found.workspace));
        }
        let question = format!("Discard {}?", count(found.len(), "worktree"));
        match person.yes(&question, false) {
            Ok(Some(true)) => {}
            Ok(_) => return Ok(ask::nothing_written(printer)),
            Err(stopped) => return stopped.into_result(printer),
        }
    }
    for found in found {
        let name = one_line(&found.run.name);
        let kept = found.discard()?;
        printer.data(&format!("{name}: discarded"));
        if let Some(kept) = kept {
            printer.note(&format!("hint: git branch NAME {kept} gets it back."));
        }
    }
    Ok(ExitCode::SUCCESS)
}
