//! A receipt as people and models read it.

use std::time::Duration;

use pi_subagents_vocabulary::Usage;
use pi_subagents_vocabulary::receipt::{
    CommandEnd, CutShort, FileSource, Flag, GateState, Receipt, SchemaState, SeenCommand,
    SeenFiles, SeenGate, SeenModel, SeenSchema, TestState,
};
use pi_subagents_vocabulary::text::{clean, count, cut_columns, one_line};

use crate::Role;
use crate::figures::{clock, cost, tokens};

/// The number of columns of a command that fit into a line with other facts.
const SHORT_COMMAND: usize = 48;

/// One fact of a whole receipt: a label, which is empty if the fact continues the one above, and
/// words.
pub type ReceiptFact = (&'static str, Role, String);

/// Writes the lines under a summary that has figures of its own: the facts of the receipt, and the
/// flags to look at.
pub fn receipt_lines(receipt: &Receipt) -> Vec<String> {
    lines(&seen_parts(receipt), receipt)
}

/// Writes the lines under a summary without figures; the figures are in these lines too.
pub fn receipt_lines_with_figures(receipt: &Receipt) -> Vec<String> {
    let mut parts = seen_parts(receipt);
    if receipt.calls() > 0 {
        parts.push(count(receipt.calls(), "tool call"));
    }
    let used: u64 = receipt.models.iter().map(|model| model.tokens).sum();
    if used > 0 {
        parts.push(format!("{} tokens", tokens(used)));
    }
    let usage: Usage = receipt.models.iter().map(usage_of).sum();
    parts.extend(Some(cost(usage.cost())).filter(|cost| !cost.is_empty()));
    lines(&parts, receipt)
}

/// Writes one line, and a second one if somebody should look at anything. The first line already
/// shows that no tool was used.
fn lines(seen: &[String], receipt: &Receipt) -> Vec<String> {
    let flags = receipt.flags.iter();
    let flags = flags.filter(|flag| **flag != Flag::NoToolUsed);
    let flags: Vec<&str> = flags.map(|flag| flag.words()).collect();
    let answerer = receipt.answerer();
    let mut lines = vec![format!("  saw: {}", seen.join(", "))];
    lines.extend(answerer.map(|words| format!("  {}", clean_line(&words))));
    if !flags.is_empty() {
        lines.push(format!("  ! {}", flags.join("; ")));
    }
    lines
}

fn seen_parts(receipt: &Receipt) -> Vec<String> {
    let mut parts = Vec::new();
    if receipt.calls() == 0 {
        parts.push("no tool call".to_owned());
    }
    parts.extend(changes(&receipt.files));
    if let Some((command, end)) = last_test(receipt) {
        let command = cut_columns(&one_line(&clean(command)), SHORT_COMMAND);
        parts.push(format!("{command} → {}", end_words(end)));
    } else if receipt.command_count > 0 && receipt.files.uncertain_commands == 0 {
        parts.push(count(receipt.command_count, "command"));
    }
    parts.extend(uncertain_words(&receipt.files));
    if let Some(gate) = receipt
        .gate
        .as_ref()
        .filter(|gate| gate.state == GateState::Passed)
    {
        let command = cut_columns(&clean_line(&gate.command), SHORT_COMMAND);
        parts.push(format!("gate passed: {command}"));
    }
    parts.extend(receipt.schema.map(schema_words));
    if receipt.tool_errors > 0 {
        parts.push(count(receipt.tool_errors, "failed tool call"));
    }
    parts.push(turns(receipt));
    parts
}

/// Writes `1 turn, 3 failed requests`.
fn turns(receipt: &Receipt) -> String {
    let turns = count(receipt.turns, "turn");
    match receipt.failed_requests {
        0 => turns,
        failed => format!("{turns}, {}", count(failed, "failed request")),
    }
}

/// Writes that shell commands may have changed files in a checkout that others use too.
fn uncertain_words(files: &SeenFiles) -> Option<String> {
    let commands = files.uncertain_commands;
    (commands > 0).then(|| format!("{} may have changed files", count(commands, "command")))
}

/// Writes how the reports stood to the schema.
fn schema_words(schema: SeenSchema) -> String {
    let reports = count(
        usize::try_from(schema.attempts).unwrap_or(usize::MAX),
        "report",
    );
    match (schema.state, schema.attempts) {
        (SchemaState::Met, 1) => "schema met".to_owned(),
        (SchemaState::Met, _) => format!("schema met after {reports}"),
        (SchemaState::NotMet, _) => format!("schema not met by {reports}"),
    }
}

/// Writes `3 edits in 2 files`.
fn changes(files: &SeenFiles) -> Option<String> {
    let edits = count(files.edits, "edit");
    if files.source == FileSource::Worktree {
        let all = files.changed.len() + files.unlisted;
        return (all > 0).then(|| format!("{} changed", count(all, "file")));
    }
    match (files.edits, files.unlisted) {
        (0, _) => None,
        (_, 0) => Some(format!("{edits} in {}", count(files.changed.len(), "file"))),
        (_, _) => Some(format!(
            "{edits} in more than {} files",
            files.changed.len()
        )),
    }
}

fn last_test(receipt: &Receipt) -> Option<(&str, CommandEnd)> {
    let last = receipt.tests.last.as_ref();
    last.map(|test| (test.command.as_str(), test.end))
}

/// Writes the end of a command: its exit code, or the cause of its end.
fn end_words(end: CommandEnd) -> String {
    match (end.exit, end.cut) {
        (Some(code), _) => code.to_string(),
        (None, Some(CutShort::TimedOut)) => "timed out".to_owned(),
        (None, Some(CutShort::Aborted)) => "aborted".to_owned(),
        (None, Some(CutShort::NotTold)) => "?".to_owned(),
        (None, Some(CutShort::Unknown) | None) => "failed".to_owned(),
    }
}

/// Writes the whole receipt, with at most `most` lines for each of its lists.
pub fn receipt_facts(receipt: &Receipt, most: usize) -> Vec<ReceiptFact> {
    let mut facts = vec![("saw", Role::Plain, calls(receipt))];
    if let Some(words) = receipt.answerer() {
        facts.push(("", Role::Warning, clean_line(&words)));
    }
    if receipt.models.len() > 1 {
        let models = receipt.models.iter().map(model_words);
        add_list(&mut facts, "models", models, receipt.models.len(), most);
    }
    let files = receipt.files.changed.iter().map(|path| clean_line(path));
    let all = receipt.files.changed.len() + receipt.files.unlisted;
    add_list(&mut facts, "changed", files, all, most);
    if let Some(words) = uncertain_words(&receipt.files) {
        let label = if all == 0 { "changed" } else { "" };
        facts.push((label, Role::Muted, words));
    }
    // The last commands are the ones that people look for.
    let skipped = receipt.commands.len().saturating_sub(most);
    let commands = receipt.commands.iter().skip(skipped).map(command_words);
    let listed = commands.len();
    add_list(&mut facts, "commands", commands, listed, most);
    if receipt.command_count > listed {
        let earlier = count(receipt.command_count - listed, "earlier command");
        facts.push(("", Role::Muted, format!("… {earlier}")));
    }
    let (role, words) = tests(receipt);
    facts.push(("tests", role, words));
    if let Some(schema) = receipt.schema {
        let role = match schema.state {
            SchemaState::Met => Role::Success,
            SchemaState::NotMet => Role::Failed,
        };
        facts.push(("report", role, schema_words(schema)));
    }
    if let Some(gate) = &receipt.gate {
        let (role, words) = gate_state(gate);
        facts.push(("gate", role, words));
        if !gate.log.is_empty() {
            let words = format!("{} in the record", gate.log);
            facts.push(("gate log", Role::Muted, words));
        }
    }
    for flag in &receipt.flags {
        facts.push(("look at", Role::Warning, flag.words().to_owned()));
    }
    facts
}

fn add_list(
    facts: &mut Vec<ReceiptFact>,
    label: &'static str,
    lines: impl Iterator<Item = String>,
    all: usize,
    most: usize,
) {
    let mut label = label;
    for line in lines.take(most) {
        facts.push((label, Role::Plain, line));
        label = "";
    }
    if all > most {
        facts.push((label, Role::Muted, format!("… {} more", all - most)));
    }
}

fn clean_line(text: &str) -> String {
    one_line(&clean(text))
}

fn calls(receipt: &Receipt) -> String {
    let turns = turns(receipt);
    let tools = receipt.tools.iter();
    let tools: Vec<String> = tools
        .map(|(name, times)| format!("{} {times}", clean_line(name)))
        .collect();
    let failed = match receipt.tool_errors {
        0 => String::new(),
        failed => format!(" ({failed} failed)"),
    };
    match tools.as_slice() {
        [] => format!("{turns}, no tool call"),
        tools => format!("{turns}, tool calls: {}{failed}", tools.join(", ")),
    }
}

/// Returns the tokens and the cost of a model, whose tokens are counted together.
fn usage_of(model: &SeenModel) -> Usage {
    Usage {
        input: model.tokens,
        cost: model.cost,
        ..Usage::default()
    }
}

fn model_words(model: &SeenModel) -> String {
    let name = match (&model.provider, &model.model) {
        (Some(provider), Some(model)) => format!("{provider}/{model}"),
        (_, Some(name)) | (Some(name), None) => name.clone(),
        (None, None) => "a model without a name".to_owned(),
    };
    let parts = [
        clean_line(&name),
        count(model.answers, "answer"),
        format!("{} tokens", tokens(model.tokens)),
        cost(usage_of(model).cost()),
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

fn command_words(seen: &SeenCommand) -> String {
    let took = seen
        .seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let took = took.filter(|took| took.as_secs() > 0);
    let took = took.map_or(String::new(), |took| format!(" ({})", clock(took)));
    format!(
        "→ {}  {}{took}",
        end_words(seen.end),
        clean_line(&seen.command)
    )
}

fn gate_state(gate: &SeenGate) -> (Role, String) {
    let (role, state) = match gate.state {
        GateState::Running => (Role::Accent, "is being run"),
        GateState::Passed => (Role::Success, "passed"),
        GateState::Failed => (Role::Failed, "failed"),
    };
    let attempts = match gate.attempts {
        0 | 1 => String::new(),
        attempts => format!(" (attempt {attempts})"),
    };
    (
        role,
        format!("{state}{attempts}: {}", clean_line(&gate.command)),
    )
}

fn tests(receipt: &Receipt) -> (Role, String) {
    let (role, words) = match receipt.tests.state {
        TestState::Passed => (Role::Success, "passed".to_owned()),
        TestState::Failed => (Role::Failed, "failed".to_owned()),
        TestState::PassedBeforeCommands => {
            let since = receipt
                .tests
                .last
                .as_ref()
                .map_or(0, |test| test.commands_since);
            let words = format!("passed, {} since", count(since, "command"));
            (Role::Warning, words)
        }
        TestState::Stale => {
            let words = "passed, and files changed after that".to_owned();
            (Role::Warning, words)
        }
        TestState::Unclear => {
            let words = "unclear, because its exit code proves nothing".to_owned();
            (Role::Warning, words)
        }
        TestState::NotSeen => return (Role::Muted, "none was seen".to_owned()),
    };
    let command = last_test(receipt).map_or(String::new(), |(command, end)| {
        format!(": {} → {}", clean_line(command), end_words(end))
    });
    (role, format!("{words}{command}"))
}
