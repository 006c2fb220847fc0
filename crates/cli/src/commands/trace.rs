//! `trace`: writes the spans of runs for a viewer of traces.

use std::process::ExitCode;

use clap::Args;

use super::output_file::WrittenArgs;
use super::read_runs;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::trace::trace;

#[derive(Args)]
pub(crate) struct TraceArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or agents
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    written: WrittenArgs,
}

pub(crate) fn run(args: &TraceArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let mut runs = Vec::new();
    for id in &args.ids {
        runs.extend(read_runs::meant(id, "trace", &places, printer)?);
    }
    let trace = trace(&runs, &places.home).map_err(|error| {
        CommandError::failed("could not read the record of a run").because(&error)
    })?;
    let usual = match runs.first() {
        Some(run) => format!("subagent-{}.trace.json", run.session),
        None => "subagent.trace.json".to_owned(),
    };
    args.written.write(&trace, &usual, &places, printer)?;
    Ok(ExitCode::SUCCESS)
}
