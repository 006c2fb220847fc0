//! `spawn`: a sub-agent that works on its own.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_engine::KnownChildren;
use schemars::JsonSchema;
use serde::Serialize;

use super::delegate::caller;
use super::dry_run;
use super::named_task::{self, NamedTaskArgs};
use pi_subagents_calls::acts;
use pi_subagents_calls::check_fields;
use pi_subagents_calls::families::background;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::Counts;

#[derive(Args)]
#[command(
    override_usage = "pi-subagents spawn [OPTIONS] [NAME] <PROMPT>\n       pi-subagents spawn [OPTIONS] --file <FILE>",
    mut_arg("timeout", |arg| arg.help(named_task::TIMEOUT)),
    mut_arg("file", |arg| arg.help("File with the call of the tool `background_agent` as JSON; - reads it from stdin"))
)]
pub(crate) struct SpawnArgs {
    #[command(flatten)]
    task: NamedTaskArgs,
}

/// The JSON of `spawn`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpawnResult<'a> {
    /// The run that has begun.
    runs: [&'a RunRow; 1],
    /// The background runs of the user, with this one.
    background_counts: Counts,
    /// The warnings for a person.
    warnings: &'a [String],
}

pub(crate) fn run(args: &SpawnArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let caller = caller(&args.task.run)?;
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let arguments = args.task.json(&caller.places, &configuration, printer)?;
    check_fields(background::BACKGROUND, &arguments, caller.door)?;
    if args.task.dry_run.dry_run {
        return dry_run::print(&caller, &configuration, printer);
    }
    // This process ends before its child does, and has no other.
    let known_children = KnownChildren::spare_unknown();
    let spawned = block_on(acts::spawn(&arguments, &caller, &known_children))?;
    if printer.is_json() {
        printer.json(&SpawnResult {
            runs: [&spawned.row],
            background_counts: spawned.counts,
            warnings: &spawned.warnings,
        });
    } else {
        for warning in &spawned.warnings {
            printer.note(&format!("! {warning}"));
        }
        let row = &spawned.row;
        let ids = format!(
            "(run: {}, session: {})",
            row.report.run_id, row.report.session_id
        );
        printer.data(&format!("{} runs in the background {ids}", row.known_as()));
        printer.note(&format!(
            "Background runs: {}\n\nWatch it:          pi-subagents attach {id}\nWait for it:       pi-subagents wait {id}\nRead its answer:   pi-subagents output {id}\nStop it:           pi-subagents stop {id}",
            spawned.counts.line(),
            id = row.report.run_id,
        ));
    }
    Ok(ExitCode::SUCCESS)
}
