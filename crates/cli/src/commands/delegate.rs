//! `delegate`: runs tasks in parallel and waits for them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::cli::{ConcurrencyArgs, DryRunArgs, RunArgs};
use crate::commands::answer_output::print;
use crate::commands::call::{answer_of, is_yaml, read_call};
use crate::commands::dry_run;
use crate::commands::junit::JunitArgs;
use crate::commands::short_name::short_name;
use crate::commands::words::joined;
use crate::places::find_places;
use crate::view;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::check_fields;
use pi_subagents_calls::families::delegation::{self, DelegateCall};
use pi_subagents_calls::{Call as _, TaskRequest};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_vocabulary::{Door, ForEach, PickRule};

#[derive(Args)]
#[command(
    override_usage = "pi-subagents delegate [OPTIONS] <PROMPT>...\n       pi-subagents delegate [OPTIONS] --task <NAME=PROMPT>...\n       pi-subagents delegate [OPTIONS] <FILE>"
)]
pub(crate) struct DelegateArgs {
    /// Prompts, one task each; or one file of tasks: the call of the tool `delegate_to_subagents` as JSON or YAML (-, an existing file, or a name that ends in .json, .yaml or .yml)
    #[arg(value_name = "PROMPT|FILE")]
    given: Vec<String>,
    /// A task with its name; may be given several times, and NAME=- reads its prompt from stdin
    #[arg(long = "task", value_name = "NAME=PROMPT", value_parser = parse_task)]
    tasks: Vec<(String, String)>,
    /// Do each --task once for every file that the pattern names, such as 'src/**/*.rs', without those that git ignores; {{item}} in its prompt is the path
    #[arg(
        long,
        value_name = "GLOB",
        requires = "tasks",
        conflicts_with = "each_line"
    )]
    each: Option<String>,
    /// Do each --task once for every line of a file; {{item}} in its prompt is the line
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "tasks")]
    each_line: Option<PathBuf>,
    /// Do each --task this number of times side by side, each in a separate worktree, and pick one.
    #[arg(long, value_name = "N", requires = "tasks", conflicts_with_all = ["each", "each_line"], value_parser = clap::value_parser!(u16).range(1..=16))]
    attempts: Option<u16>,
    /// Which attempt is picked: first (of those that complete; the others are stopped), gate (the fewest changed lines of those that complete), or the name of an agent that judges [default: gate]
    #[arg(long, value_name = "RULE", requires = "attempts")]
    pick: Option<String>,
    /// What the judge of --pick looks at, such as "the simplest one that handles errors"
    #[arg(long, value_name = "TEXT", requires = "pick")]
    rubric: Option<String>,
    /// Model of an attempt; may be given several times, and the attempts take them in turn
    #[arg(long = "attempt-model", value_name = "MODEL", requires = "attempts")]
    attempt_models: Vec<String>,
    /// Start no further task after the first one that fails. Running tasks continue to their end
    #[arg(long)]
    fail_fast: bool,
    /// Agent for the tasks that name none themselves
    #[arg(long, alias = "profile", value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    junit: JunitArgs,
    #[command(flatten)]
    concurrency: ConcurrencyArgs,
    #[command(flatten)]
    dry_run: DryRunArgs,
}

impl DelegateArgs {
    /// Returns the list for whose items the tasks are done, if there is one.
    fn each(&self) -> Option<ForEach> {
        let files = self.each.clone().map(ForEach::Files);
        files.or_else(|| self.each_line.clone().map(ForEach::Lines))
    }
}

impl DelegateArgs {
    /// Returns the rule by which attempts are picked.
    fn pick_rule(&self) -> PickRule {
        match self.pick.as_deref() {
            None | Some("gate") => PickRule::Gate,
            Some("first") => PickRule::First,
            Some(judge) => PickRule::Judge {
                judge: judge.to_owned(),
                rubric: self.rubric.clone(),
            },
        }
    }
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
    if args.fail_fast {
        call.stop_after = Some(1);
    }
    let caller = caller(&args.run)?;
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    if let Some(agent) = &args.agent {
        DelegateCall::check_agent(agent, &configuration, caller.door)?;
        call.profile = Some(agent.clone());
    }
    if args.dry_run.dry_run {
        return dry_run::print(&caller, &configuration, printer);
    }
    args.junit.check(&caller.places)?;
    let answer = answer_of(call, &caller, configuration, args.concurrency, printer)?;
    args.junit.write(&answer, &caller.places)?;
    Ok(print(&answer, &caller.places, printer))
}

/// Returns the person who typed the command, as a caller of tools.
pub(super) fn caller(args: &RunArgs) -> Result<Caller, CommandError> {
    let places = find_places()?;
    Ok(Caller {
        trusts_project: args.trust,
        overrides: args.overrides(),
        columns: view::live_columns(&places),
        ..Caller::at(places)
    })
}

fn call_of(args: &DelegateArgs) -> Result<DelegateCall, CommandError> {
    let file = args.given.iter().find(|given| is_file(given));
    match file {
        Some(file) if args.given.len() == 1 && args.tasks.is_empty() => in_file(file),
        Some(file) => Err(CommandError::usage(format!(
            "{file} is a file with tasks; it stands alone, without --task and other prompts"
        ))
        .hint(
            "Add the tasks to the file. A prompt that is the name of a file: --task NAME=PROMPT",
        )),
        None => typed(args),
    }
}

/// Returns whether an argument names a file with tasks, and is no prompt.
fn is_file(given: &str) -> bool {
    let path = Path::new(given);
    let is_named = path.extension().is_some_and(|end| end == "json") || is_yaml(path);
    let is_named = is_named && !given.contains(char::is_whitespace);
    given == "-" || is_named || (path.exists() && !path.is_dir())
}

fn in_file(file: &str) -> Result<DelegateCall, CommandError> {
    let (name, value) = read_call(Path::new(file))?;
    let fits = check_fields(delegation::DELEGATE, &value, Door::CommandLine);
    let call = fits.and_then(|_| DelegateCall::parse(&value));
    call.map_err(|error| {
        CommandError::usage(error.to_string()).hint(format!(
            "{name} must contain {{\"tasks\": [{{\"name\": …, \"prompt\": …}}]}}."
        ))
    })
}

/// Returns the call with the typed tasks: those with names of their own first.
fn typed(args: &DelegateArgs) -> Result<DelegateCall, CommandError> {
    if args.given.is_empty() && args.tasks.is_empty() {
        return Err(CommandError::usage("no task was given").hint(
            "Give prompts in quotes, --task NAME=PROMPT, or a FILE with the JSON of delegate_to_subagents.",
        ));
    }
    check_quotes(&args.given)?;
    let mut tasks = Vec::new();
    let mut names: Vec<String> = args.tasks.iter().map(|(name, _)| name.clone()).collect();
    let mut is_stdin_read = false;
    for (name, prompt) in &args.tasks {
        let prompt = if prompt == "-" {
            if std::mem::replace(&mut is_stdin_read, true) {
                return Err(CommandError::usage("only one task can be read from stdin"));
            }
            joined("prompt", std::slice::from_ref(prompt))?
        } else {
            prompt.clone()
        };
        let task = TaskRequest::new(name, prompt);
        let task = match args.each() {
            Some(each) => task.for_each(each),
            None => task,
        };
        tasks.push(match args.attempts {
            Some(count) => {
                let models = args.attempt_models.clone();
                task.attempts(usize::from(count), args.pick_rule())
                    .models(models)
            }
            None => task,
        });
    }
    for prompt in &args.given {
        let name = short_name(prompt, &names);
        names.push(name.clone());
        let prompt = joined("prompt", std::slice::from_ref(prompt))?;
        tasks.push(TaskRequest::new(name, prompt));
    }
    DelegateCall::new(tasks).map_err(|error| {
        CommandError::usage(error.to_string()).hint("Split the work into several calls.")
    })
}

/// Fails if a prompt was probably not quoted: each of its words would become a task.
fn check_quotes(prompts: &[String]) -> Result<(), CommandError> {
    let is_word = |prompt: &&String| !prompt.trim().contains(char::is_whitespace);
    match prompts.iter().find(is_word) {
        Some(word) if prompts.len() > 1 => Err(CommandError::usage(format!(
            "each argument is a separate prompt, and \"{word}\" is one word"
        ))
        .hint("Quote each prompt. If the word is meant to be a prompt: --task NAME=PROMPT")),
        Some(_) | None => Ok(()),
    }
}
