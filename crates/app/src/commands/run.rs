//! `run`: hands a task to a named sub-agent and waits for its result.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::SessionId;

use crate::cli::RunArgs;
use crate::commands::call::{answer_of, print, read_call, suggest};
use crate::commands::delegate::caller;
use crate::commands::read::joined;
use crate::configuration::Configuration;
use crate::dialects;
use crate::dialects::subagent::{AgentTask, SubagentCall, check_agent};
use crate::error::CommandError;
use crate::print::Printer;

#[derive(Args)]
pub(crate) struct RunTaskArgs {
    /// The definition that does the task: a preset, or any other
    #[arg(value_name = "NAME", required_unless_present = "file")]
    agent: Option<String>,
    /// What it is to do; words are joined, and - reads it from stdin
    #[arg(value_name = "TASK", required_unless_present = "file")]
    task: Vec<String>,
    /// A file with the JSON of `subagent`, also with tasks, or - for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "task", "session"])]
    file: Option<PathBuf>,
    /// The session to continue, with everything said in it [default: a new one]
    #[arg(long, value_name = "ID", value_parser = parse_session)]
    session: Option<SessionId>,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn parse_session(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

pub(crate) fn run(args: RunTaskArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let caller = caller(&args.run)?;
    let call = match (&args.file, args.agent) {
        (Some(file), _) => {
            let (name, value) = read_call(file)?;
            SubagentCall::parse(&value).map_err(|error| {
                CommandError::from(error).hint(format!(
                    "{name} must hold {{\"preset\": …, \"task\": …}} or {{\"tasks\": [{{\"preset\": …, \"task\": …}}]}}."
                ))
            })?
        }
        (None, Some(agent)) => {
            let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
            check_agent(&agent, &configuration)?;
            SubagentCall::Single(AgentTask {
                agent,
                task: joined("task", &args.task)?,
                model: None,
                cwd: None,
                session: args.session,
                timeout: None,
            })
        }
        (None, None) => return Err(CommandError::usage("there is no task")),
    };
    let answer = answer_of(&caller, &args.run, printer, async |toolbox, watch| {
        dialects::run(toolbox, call, &caller, watch).await
    })?;
    let code = print(&answer, printer);
    suggest(
        &answer,
        "Go on with it:  pi-subagents resume SESSION PROMPT",
        printer,
    );
    Ok(code)
}
