//! Prints the answers of sub-agents to stdout, and all other words for people to stderr.

use std::process::ExitCode;

use pi_subagents_view::receipt_lines;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Door, Ending, RunSummary, Status, Task};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::markdown_output::print_markdown;
use super::summary::{next_steps, summary_line, total};
use pi_subagents_calls::families::subagent::block;
use pi_subagents_calls::{Answer, AttemptPart, left_attempt_line, whole_output};
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::{Format, Printer};
use pi_subagents_runs::row::RunRow;

/// Prints the answer of a call in the form that was asked for. Returns the exit code of its runs.
pub(super) fn print(answer: &Answer, places: &Places, printer: Printer) -> ExitCode {
    match printer.format() {
        Format::Json | Format::JsonStream => {
            printer.json(&CallResult::of(answer, printer.has_details()));
        }
        Format::Markdown => {
            printer.exact(&document(answer));
            print_notes(answer, printer);
        }
        Format::Text => {
            if let Some(answers) = answers(answer) {
                print_markdown(&answers, places, printer);
                // On one screen the notes follow the answer.
                if printer.is_screen() {
                    printer.note("");
                }
            }
            print_notes(answer, printer);
        }
    }
    if answer.tasks().all(|(task, run)| is_refused(task, run)) {
        return ExitCode::from(exit::INVALID);
    }
    let counted = answer.tasks().filter(|(task, _)| answer.counts(task));
    exit::of_answers(counted.map(|(_, run)| match run.ending.as_ref() {
        Some(_) if run.has_no_text() => i32::from(exit::NO_ANSWER),
        Some(ending) => ending.exit_code(),
        None => 1,
    }))
}

/// Returns whether a task was refused before anything was made for it.
fn is_refused(task: &Task, run: &RunSummary) -> bool {
    task.directory.is_none() && matches!(run.ending, Some(Ending::Refused { .. }))
}

/// Returns the answers: the bare text of one task, or a section for each task that has an answer.
fn answers(answer: &Answer) -> Option<String> {
    let tasks: Vec<(&Task, &RunSummary)> = answer.tasks().collect();
    if let [(task, run)] = tasks.as_slice() {
        return Some(whole_output(task, run)?.into_owned());
    }
    let shown = tasks.iter().filter(|(task, _)| match answer.attempt(task) {
        AttemptPart::Left(_) | AttemptPart::Judge => false,
        AttemptPart::None | AttemptPart::Picked => true,
    });
    let sections = shown.filter_map(|(task, run)| {
        let said = whole_output(task, run)?;
        let name = one_line(&task.name);
        Some(format!("## {name}\n\n{}\n", said.trim_end()))
    });
    let sections: Vec<String> = sections.collect();
    (!sections.is_empty()).then(|| sections.join("\n"))
}

/// Returns one document with status, session and answer of each task.
fn document(answer: &Answer) -> String {
    if let Some(document) = answer.document() {
        return document.to_owned();
    }
    let sections = answer.tasks().map(|(task, run)| {
        let name = one_line(&task.name);
        format!("## {name}\n\n{}\n", block(task, run))
    });
    sections.collect::<Vec<_>>().join("\n")
}

/// The JSON of a call: the runs, and the text that the tool gives a model.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallResult {
    /// The runs, in the order of their tasks, with whole answers.
    runs: Vec<RunRow>,
    /// The text that the tool gives a model.
    text: String,
    /// The warnings for a person.
    warnings: Vec<String>,
    /// With `--details`, the windows with their header and footer, as pi's extension gets them.
    #[serde(flatten)]
    details: Map<String, Value>,
}

impl CallResult {
    /// Returns the answer of a call for programs.
    pub(super) fn of(answer: &Answer, has_details: bool) -> Self {
        let details = has_details.then(|| answer.details_beside_runs());
        let mut details = details.unwrap_or_default();
        // It is there already.
        details.remove("warnings");
        Self {
            details,
            ..Self::of_runs(answer.rows(), answer.text(), answer.warnings().to_vec())
        }
    }

    /// Returns the answer of runs that were read.
    pub(super) fn of_runs(runs: Vec<RunRow>, text: &str, warnings: Vec<String>) -> Self {
        Self {
            runs,
            text: text.to_owned(),
            warnings,
            details: Map::new(),
        }
    }
}

/// Prints the endings of the runs, the notices about them, and the next steps.
fn print_notes(answer: &Answer, printer: Printer) {
    for (task, run) in answer.tasks() {
        if let AttemptPart::Left(why) = answer.attempt(task) {
            printer.note(&left_attempt_line(task, run, why.as_deref()));
            continue;
        }
        let line = summary_line(task, run);
        if run.status() == Status::Completed {
            printer.note(&line);
        } else {
            printer.complain(&line);
        }
        let receipt = run.receipt();
        for line in receipt.iter().flat_map(receipt_lines) {
            printer.note(&line);
        }
        let worktree = answer.worktree(task);
        let lines = worktree.map(|worktree| worktree.lines(task.run.as_str(), Door::CommandLine));
        for line in lines.into_iter().flatten() {
            printer.note(&format!("  {line}"));
        }
    }
    for line in answer.picked_lines() {
        printer.note(&line);
    }
    if let Some(matrix) = answer.matrix() {
        printer.note(&format!("\n{matrix}\n"));
    }
    if let Some(total) = total(answer) {
        printer.note(&total);
    }
    for (task, run) in answer.tasks().filter(|(task, _)| answer.counts(task)) {
        let name = one_line(&task.name);
        if run.status() != Status::Completed && run.output().is_some() {
            printer.note(&format!(
                "! {name}: its text above is what it had said until then, and no finished answer"
            ));
        }
        if run.has_no_text() {
            printer.complain(&format!("! {name}: it completed without a text"));
        }
        if !answer.is_recorded(task) && run.output().is_some() {
            printer.note(&format!(
                "! {name}: its record may lack its answer; keep what is printed above"
            ));
        }
    }
    for notice in answer.notices() {
        printer.note(&format!("! {notice}"));
    }
    let steps = next_steps(answer);
    if !steps.is_empty() {
        printer.note(&format!("\n{}", steps.join("\n")));
    }
}
