//! `run`: hands a task to a sub-agent and waits for its answer.

use std::process::ExitCode;

use clap::Args;

use crate::cli::ConcurrencyArgs;
use crate::commands::answer_output::print;
use crate::commands::call::answer_of;
use crate::commands::delegate::caller;
use crate::commands::dry_run;
use crate::commands::named_task::{self, NamedTaskArgs};
use pi_subagents_calls::Call as _;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::check_fields;
use pi_subagents_calls::families::subagent::{SUBAGENT, SubagentCall};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
#[command(
    override_usage = "pi-subagents run [OPTIONS] [NAME] <PROMPT>\n       pi-subagents run [OPTIONS] --file <FILE>",
    mut_arg("timeout", |arg| arg.help(named_task::TIMEOUT)),
    mut_arg("file", |arg| arg.help("File with the call of the tool `subagent` as JSON: one task or several; - reads it from stdin"))
)]
pub(crate) struct RunTaskArgs {
    #[command(flatten)]
    task: NamedTaskArgs,
    #[command(flatten)]
    concurrency: ConcurrencyArgs,
}

pub(crate) fn run(args: &RunTaskArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let caller = caller(&args.task.run)?;
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let call = call_of(&args.task, &caller, &configuration, printer)?;
    if args.task.dry_run.dry_run {
        return dry_run::print(&caller, &configuration, printer);
    }
    let answer = answer_of(call, &caller, configuration, args.concurrency, printer)?;
    Ok(print(&answer, &caller.places, printer))
}

fn call_of(
    args: &NamedTaskArgs,
    caller: &Caller,
    configuration: &Configuration,
    printer: Printer,
) -> Result<SubagentCall, CommandError> {
    let door = caller.door;
    if let Some(task) = args.typed(&caller.places, configuration, printer)? {
        let name = task.agent_name().unwrap_or_default();
        SubagentCall::check_agent(name, configuration, door)?;
        return Ok(SubagentCall::of(task));
    }
    let (file, call) = args.in_file()?;
    let fits = check_fields(SUBAGENT, &call, door);
    fits.and_then(|_| SubagentCall::parse(&call)).map_err(|error| {
        CommandError::from(error).hint(format!(
            "{file} must hold {{\"preset\": …, \"task\": …}} or {{\"tasks\": [{{\"preset\": …, \"task\": …}}]}}."
        ))
    })
}
