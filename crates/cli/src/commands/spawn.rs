//! `spawn`: a sub-agent that works on its own.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_engine::KnownChildren;

use super::delegate::caller;
use super::dry_run;
use super::named_task::{self, NamedTaskArgs};
use pi_subagents_calls::check_fields;
use pi_subagents_calls::families::background;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;

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

pub(crate) fn run(args: &SpawnArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let caller = caller(&args.task.run)?;
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let arguments = args.task.json((&caller.places, &configuration), printer)?;
    check_fields(background::BACKGROUND, &arguments, caller.door)?;
    if args.task.dry_run.dry_run {
        return dry_run::print(&caller, &configuration, printer);
    }
    // This process ends before its child does, and has no other.
    let known_children = KnownChildren::spare_unknown();
    let spawned = block_on(background::spawn(&arguments, &caller, &known_children))?;
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
            "Background runs: {}\n\nWatch it:          pi-subagents attach {id}\nWait for it:       pi-subagents wait {id}\nRead its answer:   pi-subagents output {id}\nStop it:           pi-subagents stop {id}",
            spawned.counts.line(),
            id = row.run_id,
        ));
    }
    Ok(ExitCode::SUCCESS)
}
