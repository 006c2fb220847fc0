//! `attach`: the terminal interface to one run or to all runs of a project.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use crate::places::find_places;
use clap::Args;
use pi_subagents_records::CallerName;

use super::open_page::open_page;
use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_ground::colour;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend_records;
use pi_subagents_tui::{Attachment, Leaving, ScreenScope, attach};

#[derive(Args)]
pub(crate) struct AttachArgs {
    /// Run or session to show: an id or its beginning, last, last~2, or the name of a task or agent [default: all runs of this project]
    id: Option<String>,
    /// Leave by itself shortly after the runs have ended
    #[arg(long)]
    until_over: bool,
}

pub(crate) fn run(args: &AttachArgs) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    check_terminal(&places)?;
    let scope = match &args.id {
        None => ScreenScope::Project(places.project.clone()),
        Some(id) => scope_of(id, &places)?,
    };
    let attachment = Attachment {
        scope,
        leaving: if args.until_over {
            Leaving::WhenOver(None)
        } else {
            Leaving::WhenTold
        },
        paint: colour::paint(&places, true),
        starter: ScreenStarter::new(places.clone(), CallerName::Terminal),
        open_page,
        places,
    };
    block_on(attach(attachment))
}

/// Returns the run or the session that is to be shown.
fn scope_of(id: &str, places: &Places) -> Result<ScreenScope, CommandError> {
    let index = KnownIndex::of(places);
    tend_records(&index, places);
    let typed = TypedIds::running(&index, places, Printer::for_people());
    let found = typed
        .session(id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents attach {run}")))?;
    Ok(match found {
        (_, _, Some(run)) => ScreenScope::Run(run),
        (session, _, None) => ScreenScope::Session(session),
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
