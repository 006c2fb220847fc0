//! `resume`: goes on where a run or a session ended.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_sessions::{Store, history};

use crate::cli::RunArgs;
use crate::commands::delegate::{caller, delegate};
use crate::commands::read::joined;
use crate::dialects::delegation::{DelegateCall, TaskCall};
use crate::error::CommandError;
use crate::exit;
use crate::print::Printer;
use crate::recorded::find_runs;

#[derive(Args)]
pub(crate) struct ResumeArgs {
    /// The id of a run or session, or the beginning of it
    id: String,
    /// What to do now; words are joined, and - reads it from stdin
    #[arg(required = true)]
    prompt: Vec<String>,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &ResumeArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let mut caller = caller(&args.run)?;
    let store = Store::new(&caller.places.agent_dir);
    let latest = find_runs(&store, &caller.places, &args.id)?
        .pop()
        .ok_or_else(|| CommandError::not_found(format!("session {} has no runs", args.id)))?;
    let earlier = history(&latest.directory).map_err(|error| {
        CommandError::failed(format!("the record of run {} cannot be read", latest.run))
            .because(&error)
    })?;
    let call = DelegateCall::new(vec![TaskCall {
        name: latest.name.clone(),
        prompt: joined(&args.prompt)?,
        resume: Some(latest.session.to_string()),
        ..TaskCall::default()
    }])
    .map_err(|error| CommandError::usage(error.to_string()))?;
    // A session goes on where it was, unless it is told otherwise.
    if caller.overrides.cwd.is_none() {
        caller.overrides.cwd = earlier.summary.task.map(|task| task.cwd.clone());
    }
    let answer = delegate(&call, &caller, &args.run, printer)?;
    if printer.is_json() {
        printer.json(&answer.to_tool_answer().json());
    } else {
        printer.data(&answer.text());
    }
    Ok(exit::of_runs(answer.exit_codes()))
}
