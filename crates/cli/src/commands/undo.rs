//! `undo`: takes the last landing of a review back.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_git::SavedEdits;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::review::undo::undo;
use pi_subagents_runs::upkeep::tend;

use crate::places::find_places;

#[derive(Args)]
pub(crate) struct UndoArgs {
    /// Keep later edits of these files, and take back the rest
    #[arg(long)]
    keep_edits: bool,
}

pub(crate) fn run(args: &UndoArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let edits = if args.keep_edits {
        SavedEdits::Kept
    } else {
        SavedEdits::Refused
    };
    let report = undo(&places, &index, edits)?;
    if printer.is_json() {
        printer.json(&report.printed());
        return Ok(ExitCode::SUCCESS);
    }
    printer.data(&report.line());
    for warning in &report.warnings {
        printer.note(&format!("! {warning}"));
    }
    Ok(ExitCode::SUCCESS)
}
