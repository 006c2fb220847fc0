//! `run`: hands a task to a named sub-agent and waits for its result.

use std::process::ExitCode;

use clap::Args;

use crate::calls::check_fields;
use crate::calls::families::subagent::{SUBAGENT, SubagentCall, check_agent};
use crate::calls::next_steps::Door;
use crate::configuration::Configuration;
use crate::doors::command_line::cli::ConcurrencyArgs;
use crate::doors::command_line::commands::call::{answer_of, print, suggest};
use crate::doors::command_line::commands::delegate::caller;
use crate::doors::command_line::commands::named_task::{self, NamedTaskArgs};
use crate::error::CommandError;
use crate::print::Printer;

#[derive(Args)]
#[command(
    override_usage = "pi-subagents run [OPTIONS] <NAME> <TASK>...\n       pi-subagents run [OPTIONS] --file <FILE>",
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
    let call = call_of(&args.task, &configuration, caller.door)?;
    let answer = answer_of(call, (&caller, &configuration), args.concurrency, printer)?;
    let code = print(&answer, printer);
    suggest(
        &answer,
        "Continue it:  pi-subagents resume SESSION PROMPT",
        printer,
    );
    Ok(code)
}

fn call_of(
    args: &NamedTaskArgs,
    configuration: &Configuration,
    door: Door,
) -> Result<SubagentCall, CommandError> {
    if let Some(agent) = &args.agent {
        check_agent(agent, configuration, door)?;
    }
    if let Some(task) = args.typed()? {
        return Ok(SubagentCall::Single(task));
    }
    let (file, call) = args.in_file()?;
    let fits = check_fields(SUBAGENT, &call, door);
    fits.and_then(|_| SubagentCall::parse(&call)).map_err(|error| {
        CommandError::from(error).hint(format!(
            "{file} must hold {{\"preset\": …, \"task\": …}} or {{\"tasks\": [{{\"preset\": …, \"task\": …}}]}}."
        ))
    })
}
