//! `attach`: the terminal interface to one run or to all runs of a project.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use pi_subagents_records::CallerName;
use pi_subagents_view::Paint;

use super::attach_starter::BackgroundStarter;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::tending::tend_records;
use pi_subagents_runs::typed::TypedIds;
use pi_subagents_tui::{Attachment, Leaving, Scope, attach};

#[derive(Args)]
pub(crate) struct AttachArgs {
    /// Run or session to show: an id or its beginning, last, last~2, or the name of a task or definition [default: all runs of this project]
    id: Option<String>,
    /// Leave by itself shortly after the runs have ended
    #[arg(long)]
    until_over: bool,
}

pub(crate) fn run(args: &AttachArgs) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    check_terminal(&places)?;
    let scope = match &args.id {
        None => Scope::Project(places.project.clone()),
        Some(id) => scope_of(id, &places)?,
    };
    let attachment = Attachment {
        scope,
        leaving: if args.until_over {
            Leaving::WhenOver(None)
        } else {
            Leaving::WhenTold
        },
        paint: if places.variable("NO_COLOR").is_some() {
            Paint::Plain
        } else {
            Paint::Ansi
        },
        starter: Arc::new(BackgroundStarter::new(places.clone(), CallerName::Terminal)),
        places,
    };
    block_on(attach(attachment))
}

/// Returns the run or the session that is to be shown.
fn scope_of(id: &str, places: &Places) -> Result<Scope, CommandError> {
    let index = KnownIndex::of(places);
    tend_records(&index, places);
    let typed = TypedIds::running(&index, places, Printer::for_people());
    let found = typed
        .session(id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents attach {run}")))?;
    Ok(match found {
        (_, _, Some(run)) => Scope::Run(run),
        (session, _, None) => Scope::Session(session),
    })
}

/// Refuses to run without a terminal, and names the commands that do not need one.
fn check_terminal(places: &Places) -> Result<(), CommandError> {
    let problem = if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        "attach needs a terminal on stdin and stdout"
    } else if places.variable("TERM").is_none_or(|term| term == "dumb") {
        "attach needs a terminal that can move its cursor, but TERM is not set or is \"dumb\""
    } else {
        return Ok(());
    };
    Err(CommandError::usage(problem)
        .hint("Use pi-subagents status --watch to see the runs, or pi-subagents logs ID --follow to see what happens in one."))
}
