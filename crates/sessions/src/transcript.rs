//! History → text: to read, and to resume from. The words are those of the delegation seed.

use pi_subagents_delegation::text::cut_characters;
use pi_subagents_delegation::{Message, Part, RunHistory, ToolCall};

/// How much of a call's arguments is shown.
const ARGUMENT_CHARACTERS: usize = 120;

/// How much of a tool's result is shown.
const RESULT_CHARACTERS: usize = 500;

/// What stands for the output of a run that said nothing.
pub const NO_TEXT: &str = "(no text output from sub-agent)";

/// The whole conversation of a session, for reading.
pub fn for_reading(runs: &[RunHistory]) -> String {
    let texts: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            let lines: Vec<String> = run.messages.iter().filter_map(message_for_people).collect();
            let body = lines.join("\n");
            if runs.len() == 1 {
                return body;
            }
            let status = run.summary.status().as_delegation_word();
            format!("=== Run {}/{} ({status}) ===\n{body}", index + 1, runs.len())
        })
        .collect();
    texts.join("\n---\n")
}

/// The whole conversation of a session, for the child that continues it.
pub fn for_resuming(runs: &[RunHistory]) -> String {
    let texts: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            let header = format!(
                "--- Run {} ({}, {} messages) ---",
                index + 1,
                run.summary.status().as_delegation_word(),
                run.messages.len()
            );
            let lines = run.messages.iter().flat_map(message_for_child);
            [header].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
        })
        .collect();
    texts.join("\n\n")
}

/// A prompt with the transcript of what was done before it.
pub fn resumed_prompt(transcript: &str, prompt: &str) -> String {
    format!("Previously:\n\n{transcript}\n\nInstructions:\n\n{prompt}")
}

/// One message as a person reads it; `None` for one that says nothing.
pub fn message_for_people(message: &Message) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    match message {
        Message::System { .. } => {}
        Message::ToolResult(result) => {
            let text = cut_characters(&result.text(), RESULT_CHARACTERS);
            lines.push(format!("[tool result]: {text}"));
        }
        Message::User(parts) | Message::Other { parts, .. } => {
            lines.extend(parts.iter().filter_map(part_for_people));
        }
        Message::Assistant(answer) => {
            lines.extend(answer.parts.iter().filter_map(part_for_people));
            if let Some(error) = &answer.error {
                lines.push(format!("[Error: {error}]"));
            }
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn part_for_people(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(text.clone()),
        Part::ToolCall(call) => Some(format!("→ {}: {}", call.name, arguments(call))),
        Part::Thinking(_) => None,
        Part::Image { mime_type } => Some(format!("[image: {mime_type}]")),
    }
}

fn message_for_child(message: &Message) -> Vec<String> {
    match message {
        Message::System { .. } => Vec::new(),
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
            let error = answer.error.as_ref().map(|error| format!("Error: {error}"));
            text.into_iter().chain(calls).chain(error).collect()
        }
    }
}

fn arguments(call: &ToolCall) -> String {
    cut_characters(&call.arguments.to_string(), ARGUMENT_CHARACTERS)
}
