//! `keep`: a worktree that is never removed by itself.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text::one_line;
use serde_json::json;

use crate::commands::control::conversations_of;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::no_result::NoResult;
use pi_subagents_runs::tending::tend;
use pi_subagents_runs::typed::TypedIds;
use pi_subagents_runs::workspace::Workspace;

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
    let (mut kept, mut without): (Vec<IndexedRun>, Vec<NoResult>) = (Vec::new(), Vec::new());
    for id in &args.ids {
        let runs = conversations_of(typed, std::slice::from_ref(id), "keep")?;
        match note(&runs, !args.undo) {
            // Two ids may stand for one conversation.
            Ok(run) => kept.extend(run.filter(|run| !kept.iter().any(|one| one.run == run.run))),
            Err(why) => without.push(why),
        }
    }
    if kept.is_empty() {
        return Err(NoResult::all(without));
    }
    print(&kept, &without, args.undo, printer);
    Ok(exit::of_some(kept.len(), kept.len() + without.len()))
}

/// Notes for all runs of a conversation whose worktree is there that it is kept, or not. Returns
/// the latest of them.
fn note(runs: &[IndexedRun], is_kept: bool) -> Result<Option<IndexedRun>, NoResult> {
    let (mut noted, mut without) = (None, None);
    for run in runs {
        let directory = run.directory.path();
        let mut workspace = Workspace::read(directory);
        // A worktree that was merged or discarded is gone.
        let there = workspace.as_mut();
        match there.filter(|found| found.path().is_some_and(Path::is_dir)) {
            Some(found) => {
                found.is_kept = is_kept;
                found.write(directory).map_err(|error| {
                    let why = format!("cannot be noted: {error}");
                    NoResult::new(run, CommandError::failed(why))
                })?;
                noted = Some(run);
            }
            None => without = Some(NoResult::nothing_waits(run, workspace.as_ref(), "keep")),
        }
    }
    match (noted, without) {
        (Some(run), _) => Ok(Some(run.clone())),
        (None, Some(without)) => Err(without),
        (None, None) => Ok(None),
    }
}

fn print(kept: &[IndexedRun], without: &[NoResult], undo: bool, printer: Printer) {
    if printer.is_json() {
        let kept = kept
            .iter()
            .map(|run| json!({"runId": run.run.as_str(), "name": run.name, "kept": !undo}));
        let without = without.iter().map(NoResult::to_json);
        printer.json(&json!({
            "runs": kept.collect::<Vec<_>>(),
            "withoutResult": without.collect::<Vec<_>>(),
        }));
        return;
    }
    for run in kept {
        let name = one_line(&run.name);
        printer.data(&if undo {
            format!("{name}: its worktree goes a week after its run")
        } else {
            format!("{name}: its worktree stays until it is merged or discarded")
        });
    }
    for without in without {
        printer.data(&without.line());
    }
}
