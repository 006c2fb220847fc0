//! `discard`: removes worktrees whose results nobody wants.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::text::{count, one_line};
use pi_subagents_sessions::{Store, runs_of_session};

use super::listed::lines;
use crate::doors::command_line::commands::control::conversations_of;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::profiles::ask::{self, AtTerminal, Person as _};
use crate::runs::merging::Discardable;
use crate::runs::typed::TypedIds;

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
    let store = Store::new(&places.agent_dir);
    let typed = TypedIds::newest(&store, &places, printer);
    let runs = conversations_of(typed, &args.ids, "discard")?;
    let all = store.runs()?;
    let sessions: BTreeSet<_> = runs.into_iter().map(|run| run.session).collect();
    let mut found = Vec::new();
    for run in sessions
        .iter()
        .flat_map(|session| runs_of_session(&all, session))
    {
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
            printer.note(&format!(
                "hint: for 30 days, git branch NAME {kept} gets it back."
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
