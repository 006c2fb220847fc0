//! `delegate`: runs tasks in parallel and waits for them.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_definitions::RunnerChoice;
use serde_json::Value;

use crate::caller::{Caller, Overrides};
use crate::cli::RunArgs;
use crate::commands::block_on;
use crate::configuration::Configuration;
use crate::dialects::delegation::{self, Answer, DelegateCall, TaskCall};
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::signals::Signals;
use crate::toolbox::{Toolbox, Watch};
use crate::{exit, view};

#[derive(Args)]
pub(crate) struct DelegateArgs {
    /// A file with the JSON of `delegate_to_subagents`, or - for stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A task; may be given up to 16 times
    #[arg(long = "task", value_name = "NAME=PROMPT", value_parser = parse_task)]
    tasks: Vec<(String, String)>,
    /// The profile for all tasks that name none themselves
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    run: RunArgs,
}

fn parse_task(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, prompt)) if !name.trim().is_empty() && !prompt.trim().is_empty() => {
            Ok((name.trim().to_owned(), prompt.to_owned()))
        }
        Some(_) | None => Err("a task is written NAME=PROMPT, and both say something".to_owned()),
    }
}

pub(crate) fn run(
    args: &DelegateArgs,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    let mut call = call_of(args)?;
    if args.profile.is_some() {
        call.profile.clone_from(&args.profile);
    }
    let answer = delegate(&call, &caller(&args.run)?, &args.run, printer)?;
    if printer.is_json() {
        printer.json(&answer.to_tool_answer().json());
    } else {
        printer.data(&answer.text());
        printer.note("\nRead an answer:  pi-subagents output SESSION\nGo on with one:  pi-subagents resume SESSION PROMPT");
    }
    Ok(exit::of_runs(answer.exit_codes()))
}

/// Runs a call to its end, and shows how it goes.
pub(super) fn delegate(
    call: &DelegateCall,
    caller: &Caller,
    args: &RunArgs,
    printer: Printer<'static>,
) -> Result<Answer, CommandError> {
    let settings = Configuration::read_once(&caller.places, caller.trusts_project).settings;
    let concurrency = args
        .concurrency
        .map_or(settings.max_concurrency, usize::from);
    block_on(async {
        let mut signals = Signals::listen()?;
        let toolbox = Toolbox::open(&caller.places, concurrency)?;
        let watch = Watch {
            sinks: view::sinks(caller, &settings, printer),
            ..Watch::nobody()
        };
        let work = delegation::delegate(&toolbox, call, caller, watch);
        let answer = toolbox.owner.until_signalled(&mut signals, work).await;
        toolbox.owner.leave().await;
        answer
    })
}

/// Whoever typed the command.
pub(super) fn caller(args: &RunArgs) -> Result<Caller, CommandError> {
    let places = Places::find()?;
    Ok(Caller {
        trusts_project: args.trust,
        overrides: Overrides {
            runner: args.runner.map(RunnerChoice::from),
            model: args.model.clone(),
            cwd: args.cwd.clone(),
            timeout: args
                .timeout
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            tools: None,
        },
        columns: view::live_columns(&places),
        ..Caller::at(places)
    })
}

fn call_of(args: &DelegateArgs) -> Result<DelegateCall, CommandError> {
    let refused = |error: &dyn std::error::Error, hint: &str| {
        Err(CommandError::usage(error.to_string()).hint(hint))
    };
    match (&args.file, args.tasks.as_slice()) {
        (Some(_), [_, ..]) => Err(CommandError::usage(
            "tasks come from FILE or from --task, not from both",
        )),
        (None, []) => Err(CommandError::usage("there is no task")
            .hint("Give --task NAME=PROMPT, or a FILE with the JSON of delegate_to_subagents.")),
        (Some(file), []) => {
            let (name, content) = read_call(file)?;
            let value: Value = serde_json::from_str(content.trim_start_matches('\u{feff}'))
                .map_err(|error| CommandError::usage(format!("{name} is not JSON: {error}")))?;
            DelegateCall::parse(&value).or_else(|error| {
                refused(
                    &error,
                    &format!("{name} must hold {{\"tasks\": [{{\"name\": …, \"prompt\": …}}]}}."),
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

fn read_call(file: &Path) -> Result<(String, String), CommandError> {
    if file == Path::new("-") {
        let mut content = String::new();
        io::stdin()
            .read_to_string(&mut content)
            .map_err(|error| CommandError::usage("stdin cannot be read").because(&error))?;
        return Ok(("stdin".to_owned(), content));
    }
    let name = file.display().to_string();
    let content = fs::read_to_string(file)
        .map_err(|error| CommandError::usage(format!("{name} cannot be read")).because(&error))?;
    Ok((name, content))
}
