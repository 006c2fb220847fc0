//! `discard`: removes worktrees whose results nobody wants.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::tending::tend;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_vocabulary::text::{count, one_line};
use serde_json::json;

use super::listed::lines;
use crate::commands::control::each_conversation;
use pi_subagents_definition_commands::ask::{self, AtTerminal, Person as _};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::acts::ToDiscard;
use pi_subagents_runs::merging::DiscardReport;
use pi_subagents_runs::no_result::NoResult;
use pi_subagents_runs::typed::TypedIds;

#[derive(Args)]
pub(crate) struct DiscardArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or definitions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Removes worktrees whose results nobody wants.
pub(crate) fn discard(args: &DiscardArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let typed = TypedIds::newest(&index, &places, printer);
    let conversations = each_conversation(typed, &args.ids, "discard")?;
    let known = index.runs().map_err(find_failure)?;
    let unwanted = ToDiscard::find(&known, &conversations);
    if unwanted.found.is_empty() {
        return Err(NoResult::all(unwanted.without));
    }
    if !args.yes {
        let person = AtTerminal { places: &places };
        if !ask::can_ask(&person, printer) {
            return Err(
                CommandError::usage("discard asks before it removes something")
                    .hint("Use --yes to discard without being asked."),
            );
        }
        for found in &unwanted.found {
            printer.note(&lines(&found.run, &found.workspace));
        }
        let question = format!("Discard {}?", count(unwanted.found.len(), "result"));
        match person.yes(&question, false) {
            Ok(Some(true)) => {}
            Ok(_) => return Ok(ask::nothing_written(printer)),
            Err(stopped) => return stopped.into_result(printer),
        }
    }
    let report = unwanted.discard();
    print(&report, printer);
    let done = report.discarded.len();
    Ok(exit::of_some(done, done + report.without.len()))
}

fn print(report: &DiscardReport, printer: Printer) {
    if printer.is_json() {
        let discarded = report.discarded.iter().map(|one| {
            json!({
                "runId": one.run.run.as_str(),
                "name": one.run.name,
                "ref": one.result_ref,
            })
        });
        let without = report.without.iter().map(NoResult::to_json);
        printer.json(&json!({
            "discarded": discarded.collect::<Vec<_>>(),
            "withoutResult": without.collect::<Vec<_>>(),
        }));
        return;
    }
    for discarded in &report.discarded {
        printer.data(&format!("{}: discarded", one_line(&discarded.run.name)));
        if let Some(kept) = &discarded.result_ref {
            printer.note(&format!(
                "hint: for 30 days, git branch NAME {kept} gets it back."
            ));
        }
    }
    for without in &report.without {
        printer.data(&without.line());
    }
}
