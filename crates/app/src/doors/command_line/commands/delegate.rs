//! `delegate`: runs tasks in parallel and waits for them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::calls::caller::Caller;
use crate::calls::check_fields;
use crate::calls::families::delegation::{self, DelegateCall, TaskCall};
use crate::calls::next_steps::Door;
use crate::configuration::Configuration;
use crate::doors::command_line::cli::{ConcurrencyArgs, RunArgs};
use crate::doors::command_line::commands::call::{answer_of, print, read_call, suggest};
use crate::doors::command_line::view;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;

#[derive(Args)]
#[command(
    override_usage = "pi-subagents delegate [OPTIONS] --task <NAME=PROMPT>...\n       pi-subagents delegate [OPTIONS] <FILE>"
)]
pub(crate) struct DelegateArgs {
    /// File with the call of the tool `delegate_to_subagents` as JSON; - reads it from stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A task with its name; may be given up to 16 times
    #[arg(long = "task", value_name = "NAME=PROMPT", value_parser = parse_task)]
    tasks: Vec<(String, String)>,
    /// Profile for the tasks that name none themselves
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    concurrency: ConcurrencyArgs,
}

fn parse_task(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, prompt)) if !name.trim().is_empty() && !prompt.trim().is_empty() => {
            Ok((name.trim().to_owned(), prompt.to_owned()))
        }
        Some(_) | None => {
            Err("a task is written NAME=PROMPT, and neither part may be empty".to_owned())
        }
    }
}

pub(crate) fn run(
    args: &DelegateArgs,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    let mut call = call_of(args)?;
    let caller = caller(&args.run)?;
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    if let Some(profile) = &args.profile {
        delegation::check_profile(profile, &configuration, caller.door)?;
        call.profile = Some(profile.clone());
    }
    let answer = answer_of(call, (&caller, &configuration), args.concurrency, printer)?;
    let code = print(&answer, printer);
    suggest(
        &answer,
        "Read an answer:  pi-subagents output SESSION\nContinue one:    pi-subagents resume SESSION PROMPT",
        printer,
    );
    Ok(code)
}

/// Returns whoever typed the command, as a caller of tools.
pub(super) fn caller(args: &RunArgs) -> Result<Caller, CommandError> {
    let places = Places::find()?;
    Ok(Caller {
        trusts_project: args.trust,
        overrides: args.overrides(),
        columns: view::live_columns(&places),
        ..Caller::at(places)
    })
}

fn call_of(args: &DelegateArgs) -> Result<DelegateCall, CommandError> {
    let refused = |error: &dyn std::error::Error, hint: &str| {
        Err(CommandError::usage(error.to_string()).hint(hint))
    };
    match (&args.file, args.tasks.as_slice()) {
        (Some(_), [_, ..]) => Err(CommandError::usage("give either FILE or --task, not both")),
        (None, []) => Err(CommandError::usage("no task was given")
            .hint("Give --task NAME=PROMPT, or a FILE with the JSON of delegate_to_subagents.")),
        (Some(file), []) => {
            let (name, value) = read_call(file)?;
            let fits = check_fields(delegation::DELEGATE, &value, Door::CommandLine);
            fits.and_then(|_| DelegateCall::parse(&value))
                .or_else(|error| {
                    refused(
                        &error,
                        &format!(
                            "{name} must contain {{\"tasks\": [{{\"name\": …, \"prompt\": …}}]}}."
                        ),
                    )
                })
        }
        (None, tasks) => {
            let tasks = tasks.iter().map(|(name, prompt)| TaskCall {
                name: name.clone(),
                prompt: prompt.clone(),
                ..TaskCall::default()
            });
            DelegateCall::new(tasks.collect())
                .or_else(|error| refused(&error, "Split the work into several calls."))
        }
    }
}
