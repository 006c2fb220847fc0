//! `undo`: takes the last landing of a review back, or a part of it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_calls::user_variables;
use pi_subagents_git::SavedEdits;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::review::undo::undo;
use pi_subagents_runs::review::{HalfGates, HalfUndo, UndoneHalf};
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend;

use crate::commands::control::each_conversation;
use crate::places::find_places;

#[derive(Args)]
pub(crate) struct UndoArgs {
    /// Results that are taken back alone, while the rest of the step stays: ids or their beginnings, last, or names of tasks [default: the whole step]
    #[arg(value_name = "ID", group = "half")]
    ids: Vec<String>,
    /// Take back only these files or directories, as diff names them
    #[arg(
        long,
        value_name = "PATH",
        value_delimiter = ',',
        group = "half",
        conflicts_with = "ids"
    )]
    files: Vec<String>,
    /// Keep later edits of these files, and take back the rest
    #[arg(long)]
    keep_edits: bool,
    /// Command that must pass on the rest of the step, run in a scratch copy of this checkout [default: subagents.reviewGate]
    #[arg(
        long,
        value_name = "CMD",
        requires = "half",
        conflicts_with = "no_gate"
    )]
    gate: Option<String>,
    /// Take a part back without running any gate
    #[arg(long, requires = "half")]
    no_gate: bool,
}

impl UndoArgs {
    fn edits(&self) -> SavedEdits {
        if self.keep_edits {
            SavedEdits::Kept
        } else {
            SavedEdits::Refused
        }
    }

    /// Returns the part of the step that is meant; `None` for the whole.
    fn half(
        &self,
        places: &Places,
        index: &KnownIndex,
        printer: Printer<'static>,
    ) -> Result<Option<UndoneHalf>, CommandError> {
        if !self.files.is_empty() {
            let files = self.files.iter().map(PathBuf::from);
            return Ok(Some(UndoneHalf::Files(files.collect())));
        }
        if self.ids.is_empty() {
            return Ok(None);
        }
        let typed = TypedIds::newest(index, places, printer);
        let runs = each_conversation(typed, &self.ids, "undo")?.concat();
        let runs = runs.into_iter().map(|run| run.run);
        Ok(Some(UndoneHalf::Runs(runs.collect())))
    }
}

pub(crate) fn run(args: &UndoArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let report = match args.half(&places, &index, printer)? {
        None => undo(&places, &index, args.edits())?,
        Some(half) => {
            let configuration = Configuration::read_once(&places, false);
            configuration.check()?;
            let settings = configuration.settings;
            let review = args.gate.clone().or(settings.review_gate);
            let undo = HalfUndo {
                places: &places,
                index: &index,
                half,
                edits: args.edits(),
                gates: (!args.no_gate).then_some(HalfGates { review }),
                worktrees: settings.worktrees,
                variables: user_variables(&places),
                keys: settings.fleet.nkey.into_iter().collect(),
            };
            undo.run()?
        }
    };
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
