//! `attach`: the terminal interface to one run or to all runs of a project.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_sessions::Store;
use pi_subagents_windows::Paint;

use crate::attach::{Attachment, Leaving, Scope, attach};
use crate::error::CommandError;
use crate::places::Places;
use crate::runs::find::find_session;
use crate::runtime::block_on;

#[derive(Args)]
pub(crate) struct AttachArgs {
    /// Id of the run or session to show; the beginning of it is enough [default: all runs of this project]
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
        Some(id) => match find_session(&Store::new(&places.agent_dir), &places, id)? {
            (_, _, Some(run)) => Scope::Run(run),
            (session, _, None) => Scope::Session(session),
        },
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
        places,
    };
    block_on(attach(attachment))
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
        .hint("Use pi-subagents status --watch to see the runs, or pi-subagents events ID --follow to see what happens in one."))
}
