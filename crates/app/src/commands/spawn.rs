//! `spawn`: a sub-agent that works on its own.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::SessionId;
use pi_subagents_engine::OwnChildren;
use serde_json::json;

use super::block_on;
use super::call::read_call;
use super::delegate::caller;
use super::read::joined;
use super::run::parse_session;
use crate::cli::RunArgs;
use crate::dialects::background;
use crate::error::CommandError;
use crate::print::Printer;

#[derive(Args)]
pub(crate) struct SpawnArgs {
    /// The definition that does the task: a preset, or any other
    #[arg(value_name = "NAME", required_unless_present = "file")]
    agent: Option<String>,
    /// What it is to do; words are joined, and - reads it from stdin
    #[arg(value_name = "TASK", required_unless_present = "file")]
    task: Vec<String>,
    /// A file with the JSON of `background_agent`, or - for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "task", "session"])]
    file: Option<PathBuf>,
    /// The session to continue, with everything said in it [default: a new one]
    #[arg(long, value_name = "ID", value_parser = parse_session)]
    session: Option<SessionId>,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &SpawnArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let arguments = match &args.file {
        Some(file) => read_call(file)?.1,
        None => json!({
            "preset": args.agent,
            "task": joined("task", &args.task)?,
            "sessionId": args.session.as_ref().map(SessionId::as_str),
        }),
    };
    let caller = caller(&args.run)?;
    // This process ends before its child does, and has no other.
    let own_children = OwnChildren::shared();
    let spawned = block_on(background::spawn(&arguments, &caller, &own_children))?;
    if printer.is_json() {
        printer.json(&spawned.json());
    } else {
        for warning in &spawned.warnings {
            printer.note(&format!("! {warning}"));
        }
        let row = &spawned.row;
        let ids = format!("(run: {}, session: {})", row.run_id, row.session_id);
        printer.data(&format!("{} runs in the background {ids}", row.known_as()));
        printer.note(&format!(
            "Background runs: {}\n\nWait for it:       pi-subagents wait {id}\nRead its answer:   pi-subagents output {id}\nStop it:           pi-subagents stop {id}",
            spawned.counts.line(),
            id = row.run_id,
        ));
    }
    Ok(ExitCode::SUCCESS)
}
