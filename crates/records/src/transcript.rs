//! History → text: to read, and to resume from. The words are those of the delegation seed.

use std::borrow::{Borrow, Cow};

use pi_subagents_vocabulary::text::cut_characters;
use pi_subagents_vocabulary::{Message, Part, RunHistory, ToolCall};

/// The number of characters of a call's arguments that are shown.
const ARGUMENT_CHARACTERS: usize = 120;

/// The number of characters of a tool's result that are shown.
const RESULT_CHARACTERS: usize = 500;

/// The output of a run without any text.
pub const NO_TEXT: &str = "(no text output from sub-agent)";

/// The treatment of prompts in a printed session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompts {
    /// The prompts of sub-agents are left out, because the reader has written them.
    LeftOut,
    /// The prompts of sub-agents are printed with a mark.
    Marked,
}

/// Formats the conversation of a session for people.
pub fn for_reading(runs: &[RunHistory], prompts: Prompts) -> String {
    let texts: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            let said = run.messages.iter();
            let said = said.filter_map(|message| message_for_people(message, prompts));
            let ends = said.chain(gap_of(run)).chain(unsaid_error(run));
            let body = ends.collect::<Vec<_>>().join("\n");
            if runs.len() == 1 {
                return body;
            }
            let status = run.summary.status().as_delegation_word();
            format!(
                "=== Run {}/{} ({status}) ===\n{body}",
                index + 1,
                runs.len()
            )
        })
        .collect();
    texts.join("\n---\n")
}

/// Returns the sentence about the missing parts of a record, with the output if it is known all the
/// same.
fn gap_of(run: &RunHistory) -> Option<String> {
    let gap = run.gap.as_ref()?;
    let note = format!("[the record is incomplete: {}]", gap.reasons.join("; "));
    Some(match &gap.output {
        Some(output) => format!("{note}\n{output}"),
        None => note,
    })
}

/// Returns the error of a failed run, unless its last answer has it already.
fn unsaid_error(run: &RunHistory) -> Option<String> {
    let message = run.summary.ending.as_ref()?.message()?;
    (run.summary.model_error.as_ref() != Some(&message)).then(|| format!("[Error: {message}]"))
}

/// Formats the whole conversation of a session for the child that continues it.
pub fn for_resuming(runs: &[impl Borrow<RunHistory>]) -> String {
    let texts: Vec<String> = runs
        .iter()
        .map(Borrow::borrow)
        .enumerate()
        .map(|(index, run)| {
            let header = format!(
                "--- Run {} ({}, {} messages) ---",
                index + 1,
                run.summary.status().as_delegation_word(),
                run.messages.len()
            );
            let lines = run.messages.iter().flat_map(message_for_child);
            [header]
                .into_iter()
                .chain(lines)
                .chain(gap_of(run))
                .chain(unsaid_error(run))
                .collect::<Vec<_>>()
                .join("\n")
        })
        .collect();
    texts.join("\n\n")
}

/// Puts the transcript of the earlier runs in front of a prompt.
pub fn resumed_prompt(transcript: &str, prompt: &str) -> String {
    format!("Previously:\n\n{transcript}\n\nInstructions:\n\n{prompt}")
}

/// Formats one message for people; `None` for a message without text.
fn message_for_people(message: &Message, prompts: Prompts) -> Option<String> {
    let lines: Vec<Cow<'_, str>> = lines_of(message, Results::Alike).collect();
    let text = (!lines.is_empty()).then(|| lines.join("\n"))?;
    match (message, prompts) {
        (Message::User(_), Prompts::LeftOut) => None,
        (Message::User(_), Prompts::Marked) => Some(format!("[prompt]: {text}")),
        (_, Prompts::LeftOut | Prompts::Marked) => Some(text),
    }
}

/// Returns the lines of one message for people; long texts are not copied.
pub(crate) fn lines_for_people(message: &Message) -> impl Iterator<Item = Cow<'_, str>> {
    lines_of(message, Results::Judged)
}

/// Decides whether the result of a failed call says that it failed. Models get the documented text, which has one
/// form for all results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    Alike,
    Judged,
}

fn lines_of(message: &Message, results: Results) -> impl Iterator<Item = Cow<'_, str>> {
    let (parts, result, error) = match message {
        Message::System(_) => ([].as_slice(), None, None),
        Message::User(parts) | Message::Other { parts, .. } => (parts.as_slice(), None, None),
        Message::ToolResult(result) => ([].as_slice(), Some(result), None),
        Message::Assistant(answer) => (answer.parts.as_slice(), None, answer.error.as_ref()),
    };
    let result = result.map(|result| {
        let text = cut_characters(&result.text(), RESULT_CHARACTERS);
        let failure = result.failure().filter(|_| results == Results::Judged);
        Cow::Owned(match failure {
            Some(failure) => format!("[tool failed: {failure}]: {text}"),
            None => format!("[tool result]: {text}"),
        })
    });
    let error = error.map(|error| Cow::Owned(format!("[Error: {error}]")));
    parts
        .iter()
        .filter_map(part_for_people)
        .chain(result)
        .chain(error)
}

fn part_for_people(part: &Part) -> Option<Cow<'_, str>> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(Cow::Borrowed(text)),
        Part::ToolCall(call) => Some(format!("→ {}: {}", call.name, arguments(call)).into()),
        Part::Thinking(_) => None,
        Part::Image { mime_type } => Some(format!("[image: {mime_type}]").into()),
    }
}

fn message_for_child(message: &Message) -> Vec<String> {
    match message {
        Message::System(_) => Vec::new(),
        Message::User(_) => message
            .text()
            .map(|text| format!("User: {text}"))
            .into_iter()
            .collect(),
        Message::Other { role, .. } => message
            .text()
            .map(|text| format!("{role}: {text}"))
            .into_iter()
            .collect(),
        Message::ToolResult(result) => vec![format!(
            "Tool Result: {}",
            cut_characters(&result.text(), RESULT_CHARACTERS)
        )],
        Message::Assistant(answer) => {
            let text = answer.text().map(|text| format!("Assistant: {text}"));
            let calls = answer
                .tool_calls()
                .map(|call| format!("Tool Call: {}({})", call.name, arguments(call)));
            let error = answer
                .error
                .as_ref()
                .map(|error| format!("[Error: {error}]"));
            text.into_iter().chain(calls).chain(error).collect()
        }
    }
}

fn arguments(call: &ToolCall) -> String {
    cut_characters(&call.arguments.to_string(), ARGUMENT_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::{AssistantMessage, ToolResult};
    use serde_json::json;

    use super::*;

    #[test]
    fn long_arguments_and_results_are_cut_for_models() {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "bash".to_owned(),
            arguments: json!("a".repeat(200)),
        };
        let asked = Message::Assistant(AssistantMessage {
            parts: vec![Part::ToolCall(call)],
            ..AssistantMessage::default()
        });
        let answered = Message::ToolResult(ToolResult {
            parts: vec![Part::Text("r".repeat(600))],
            ..ToolResult::default()
        });
        let mut history = RunHistory::default();
        history.messages.extend([asked, answered]);
        let (arguments, result) = ("a".repeat(119), "r".repeat(500));
        assert_eq!(
            for_reading(std::slice::from_ref(&history), Prompts::LeftOut),
            format!("→ bash: \"{arguments}...\n[tool result]: {result}...")
        );
        let resumed = for_resuming(&[history]);
        assert!(resumed.contains(&format!("Tool Call: bash(\"{arguments}...)")));
        assert!(resumed.ends_with(&format!("Tool Result: {result}...")));
    }
}
