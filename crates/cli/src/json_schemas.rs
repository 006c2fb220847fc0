//! The JSON schemas of everything that commands print as JSON. `docs/schemas` holds them, and
//! `schema` prints them.

use pi_subagents_definition_commands::results::{
    AddedResult, AgentResult, AgentsResult, DeletedResult, ExplainResult, ImportResult, SavedResult,
};
use pi_subagents_fleet::DryRunResult;
use pi_subagents_ground::error::ErrorResult;
use pi_subagents_ground::print::EnvelopeHead;
use pi_subagents_runs::acts::PrintedDiff;
use pi_subagents_runs::merging::{PrintedBranch, PrintedFit, PrintedMerge};
use pi_subagents_runs::review::undo::PrintedUndo;
use pi_subagents_runs::review::{PrintedAccept, PrintedQueue};
use pi_subagents_runs::row::RunRow;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::commands::answer_output::CallResult;
use crate::commands::budget::BudgetResult;
use crate::commands::clean::CleanResult;
use crate::commands::control::SteerResult;
use crate::commands::doctor::DoctorResult;
use crate::commands::fleet::{InitResult, KeyResult, WorkersResult};
use crate::commands::inbox::{InboxResult, ReplyResult};
use crate::commands::merge::ResolveResult;
use crate::commands::models::ModelsResult;
use crate::commands::output::ReceiptResult;
use crate::commands::spawn::SpawnResult;
use crate::commands::status::{FleetStatusResult, StatusResult};
use crate::commands::tools::ToolsResult;
use crate::commands::tour::TourResult;
use crate::commands::trust::TrustResult;
use crate::commands::worktrees::{DiscardResult, KeepResult, PruneResult, WorktreesResult};
use crate::json_stream::StreamedEvent;
use crate::read_conversation::SessionResult;
use crate::runs_result::RunsResult;

/// Adds a type to a generator, and returns a reference to it.
type Add = fn(&mut SchemaGenerator) -> Schema;

/// A kind of JSON that a command prints, with the types that its content may have.
struct Printed {
    /// The words of the command, or the kind of object.
    words: &'static str,
    kind: &'static str,
    contents: &'static [Add],
}

const fn result(words: &'static str, contents: &'static [Add]) -> Printed {
    Printed {
        words,
        kind: "result",
        contents,
    }
}

/// The results of all commands that have `--json`. A command with several forms of output has
/// several types.
const RESULTS: &[Printed] = &[
    result("agents", &[of::<AgentsResult>]),
    result("agents list", &[of::<AgentsResult>]),
    result("agents show", &[of::<AgentResult>]),
    result("agents add", &[of::<AddedResult>]),
    result("agents import", &[of::<ImportResult>]),
    result("agents create", &[of::<SavedResult>]),
    result("agents edit", &[of::<SavedResult>]),
    result("agents delete", &[of::<DeletedResult>]),
    result("agents explain", &[of::<ExplainResult>]),
    result("answer", &[of::<ReplyResult>, of::<CallResult>]),
    result("budget", &[of::<BudgetResult<'static>>]),
    result("budget raise", &[of::<BudgetResult<'static>>]),
    result("clean", &[of::<CleanResult<'static>>]),
    result("delegate", &[of::<CallResult>, of::<DryRunResult<'static>>]),
    result("diff", &[of::<PrintedDiff<'static>>]),
    result("discard", &[of::<DiscardResult<'static>>]),
    result("doctor", &[of::<DoctorResult<'static>>]),
    result("fleet init", &[of::<InitResult<'static>>]),
    result("fleet key", &[of::<KeyResult<'static>>]),
    result("fleet workers", &[of::<WorkersResult<'static>>]),
    result("inbox", &[of::<InboxResult>]),
    result("keep", &[of::<KeepResult<'static>>]),
    result(
        "merge",
        &[
            of::<PrintedMerge<'static>>,
            of::<PrintedFit<'static>>,
            of::<PrintedBranch<'static>>,
            of::<ResolveResult<'static>>,
        ],
    ),
    result("models", &[of::<ModelsResult<'static>>]),
    result("output", &[of::<CallResult>, of::<ReceiptResult>]),
    result("resume", &[of::<CallResult>]),
    result(
        "review",
        &[of::<PrintedQueue>, of::<PrintedAccept<'static>>],
    ),
    result("run", &[of::<CallResult>, of::<DryRunResult<'static>>]),
    result("session", &[of::<SessionResult<'static>>]),
    result(
        "spawn",
        &[of::<SpawnResult<'static>>, of::<DryRunResult<'static>>],
    ),
    result(
        "status",
        &[
            of::<StatusResult<'static>>,
            of::<FleetStatusResult<'static>>,
        ],
    ),
    result("steer", &[of::<SteerResult>]),
    result("stop", &[of::<RunsResult<'static>>]),
    result("tools", &[of::<ToolsResult>]),
    result("tour", &[of::<TourResult<'_>>, of::<CallResult>]),
    result("trust", &[of::<TrustResult<'static>>]),
    result("undo", &[of::<PrintedUndo<'static>>]),
    result("wait", &[of::<RunsResult<'static>>]),
    result(
        "worktrees",
        &[of::<WorktreesResult<'static>>, of::<PruneResult<'static>>],
    ),
];

/// The objects that are no result of a command.
const OTHERS: &[Printed] = &[
    Printed {
        words: "error",
        kind: "error",
        contents: &[of::<ErrorResult>],
    },
    Printed {
        words: "event",
        kind: "event",
        contents: &[of::<StreamedEvent<'static>>],
    },
    Printed {
        words: "one-run",
        kind: "run",
        contents: &[of::<RunRow>],
    },
];

/// The name of the schema that holds the types of all others.
const TYPES: &str = "types";

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Returns the names of all schemas, each of which is the name of a file.
pub(crate) fn names() -> Vec<String> {
    let all = RESULTS.iter().chain(OTHERS).map(Printed::name);
    all.chain([TYPES.to_owned()]).collect()
}

/// Returns a schema by its name.
pub(crate) fn schema(name: &str) -> Option<Value> {
    if name == TYPES {
        return Some(types());
    }
    let mut all = RESULTS.iter().chain(OTHERS);
    all.find(|printed| printed.name() == name)
        .map(Printed::schema)
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

/// Returns the schema that the others refer to.
fn types() -> Value {
    let mut generator = generator();
    of::<EnvelopeHead>(&mut generator);
    for printed in RESULTS.iter().chain(OTHERS) {
        for add in printed.contents {
            add(&mut generator);
        }
    }
    json!({
        "$schema": DRAFT,
        "title": "The types of all JSON that pi-subagents prints",
        "$defs": generator.take_definitions(true),
    })
}

/// The version of JSON Schema.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

impl Printed {
    fn name(&self) -> String {
        self.words.replace(' ', "-")
    }

    fn title(&self) -> String {
        match self.kind {
            "result" => format!("pi-subagents {} --json", self.words),
            "event" => "A line of --json-stream before the last one".to_owned(),
            "run" => "A run, as the command of subagents.onEnd gets it on stdin".to_owned(),
            _ => "A command that has no result".to_owned(),
        }
    }

    fn schema(&self) -> Value {
        let mut generator = generator();
        let head = of::<EnvelopeHead>(&mut generator);
        let contents = self.contents.iter().map(|add| add(&mut generator));
        let contents: Vec<Schema> = contents.collect();
        let content = match contents.as_slice() {
            [only] => json!(only),
            several => json!({ "anyOf": several }),
        };
        let schema = json!({
            "$schema": DRAFT,
            "title": self.title(),
            "type": "object",
            "properties": {"type": {"const": self.kind}},
            "allOf": [head, content],
        });
        in_types(schema)
    }
}

/// Makes references to types lead into the file that holds them.
fn in_types(mut schema: Value) -> Value {
    match &mut schema {
        Value::String(text) => {
            if text.starts_with("#/$defs/") {
                *text = format!("{TYPES}.json{text}");
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = in_types(item.take());
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                *field = in_types(field.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    schema
}

/// Returns the words of all commands that have `--json`, from the parser.
#[cfg(test)]
fn commands_with_json(command: &clap::Command, words: &[String], found: &mut Vec<String>) {
    let has_json = command
        .get_arguments()
        .any(|argument| argument.get_long() == Some("json"));
    if has_json && !words.is_empty() {
        found.push(words.join(" "));
    }
    for inner in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        if inner.get_name() == "help" {
            continue;
        }
        let words = [words, &[inner.get_name().to_owned()]].concat();
        commands_with_json(inner, &words, found);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::command_line;

    #[test]
    fn every_command_that_prints_json_has_a_schema() {
        let mut commands = command_line();
        commands.build();
        let mut found = Vec::new();
        commands_with_json(&commands, &[], &mut found);
        // These print nothing but have subcommands that print, or work until somebody ends them.
        let silent = ["fleet", "fleet work"];
        let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        let found: Vec<&str> = found
            .into_iter()
            .filter(|one| !silent.contains(one))
            .collect();
        let mut known: Vec<&str> = RESULTS.iter().map(|printed| printed.words).collect();
        known.sort_unstable();
        assert_eq!(known, found);
    }
}
