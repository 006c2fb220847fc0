//! `tour --here`: three sub-agents look at the directory of the user, and change nothing.

use std::process::ExitCode;

use pi_subagents_view::AtEnd;
use pi_subagents_vocabulary::{RunSummary, Task};

use super::{Pace, overrides};
use crate::cli::{ConcurrencyArgs, RunArgs};
use crate::commands::answer_output::CallResult;
use crate::commands::call::answer_after_windows;
use crate::commands::delegate::caller;
use pi_subagents_calls::Answer;
use pi_subagents_calls::TaskRequest;
use pi_subagents_calls::families::delegation::DelegateCall;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::print::Printer;

/// Reading tools only: a tour changes nothing.
const TOOLS: [&str; 5] = ["read", "bash", "ls", "grep", "find"];

const TASKS: [(&str, &str); 3] = [
    (
        "survey",
        "Survey this directory: what is here, and how big is it?",
    ),
    (
        "about",
        "Find what this project is about: read its README or the first text file.",
    ),
    (
        "open-ends",
        "Look for open ends: search for TODO and FIXME.",
    ),
];

pub(super) fn run(printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let tasks = TASKS.map(|(name, prompt)| TaskRequest::new(name, prompt));
    let call =
        DelegateCall::new(tasks.into()).map_err(|error| CommandError::failed(error.to_string()))?;
    printer.note("Three sub-agents look at this directory. Their tools are real;\ntheir model is a script that needs no network and no key.\n");
    let mut caller = caller(&RunArgs::default())?;
    let pace = Pace::of(&caller.places, printer);
    caller.overrides = overrides(pace, &TOOLS);
    let configuration = Configuration::read_once(&caller.places, caller.trusts_project);
    let at_end = AtEnd::Stay {
        max_lines: configuration.settings.max_lines_per_window,
    };
    let concurrency = ConcurrencyArgs::default();
    let answer = answer_after_windows(call, &caller, configuration, concurrency, printer, at_end)?;
    if printer.is_json() {
        printer.json(&CallResult::of(&answer, false));
    } else {
        // In live windows the answers have just been read.
        if pace == Pace::Unwatched {
            printer.note("");
            printer.data(&report(&answer));
        }
        printer.note(&next_steps(&answer));
    }
    Ok(exit::of_runs(answer.exit_codes()))
}

fn report(answer: &Answer) -> String {
    let sections = runs(answer).map(|(task, run)| {
        let said = run.output().unwrap_or("(no answer)");
        let indented = said.replace('\n', "\n  ");
        format!("{}\n  {indented}\n", task.name)
    });
    format!(
        "{}\n{}",
        sections.collect::<Vec<_>>().join("\n"),
        answer.text()
    )
}

fn next_steps(answer: &Answer) -> String {
    let Some((task, _)) = runs(answer).next() else {
        return String::new();
    };
    let (name, id) = (&task.name, &task.session);
    format!(
        "
Every run is recorded on disk. Next:
  pi-subagents attach                    see all runs on one screen
  pi-subagents output {id}   read the answer of {name}
  pi-subagents session {id}  read its whole conversation
  pi-subagents status --all              list all runs of this project

With a model of your own:
  pi-subagents run \"Review the last commit\" --model provider/model"
    )
}

fn runs(answer: &Answer) -> impl Iterator<Item = (&Task, &RunSummary)> {
    answer
        .outcomes()
        .iter()
        .filter_map(|run| Some((run.task.as_deref()?, run.as_ref())))
}
