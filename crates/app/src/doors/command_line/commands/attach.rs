//! `attach`: the terminal UI on one or all runs.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_sessions::Store;
use pi_subagents_windows::Paint;

use crate::attach::{Attachment, Leaving, Scope, attach};
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::find::find_session;
use crate::runtime::block_on;

#[derive(Args)]
pub(crate) struct AttachArgs {
    /// Show only this run, or the runs of this session, by its id or the beginning of it
    id: Option<String>,
    /// Leave by itself, shortly after these runs are over
    #[arg(long)]
    until_over: bool,
}

pub(crate) fn run(args: &AttachArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    check_terminal(&places, printer)?;
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

/// It is for people at a terminal; programs are told what is for them.
fn check_terminal(places: &Places, printer: Printer) -> Result<(), CommandError> {
    let problem = if printer.is_json() {
        "attach is for people and prints no JSON"
    } else if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        "attach needs a terminal: stdin and stdout must be one"
    } else if places.variable("TERM").is_none_or(|term| term == "dumb") {
        "attach needs a terminal that can do more: TERM is not set, or dumb"
    } else {
        return Ok(());
    };
    Err(CommandError::usage(problem)
        .hint("pi-subagents status --watch shows what runs; pi-subagents events ID --follow prints what happens in a run."))
}
