//! Tools and answers as the protocol writes them.

use std::sync::Arc;

use pi_subagents_calls::families::delegation::DELEGATE;
use pi_subagents_calls::families::start_tool::SEVERAL_AT_ONCE;
use pi_subagents_calls::{self as calls, Effect};
use rmcp::model::{
    CallToolResult, ContentBlock, MetaObject, Resource, ResourceTemplate, Tool, ToolAnnotations,
};
use serde_json::{Map, Value, json};

use crate::extras::extend;

/// A sentence for models that get a message when a run ends. An MCP client gets no such message, so
/// another sentence takes its place here.
const TOLD: &str = "Do not poll for its end.";
const HAS_TO_ASK: &str = "subagent_runs waits for its end.";

/// The key under which a program finds the details of an answer. They are no structured content:
/// many clients give that to the model in place of the text.
const DETAILS: &str = "pi-subagents/details";

/// The media type of all resources.
const TEXT: &str = "text/plain";

/// The facts about a user that the descriptions of tools name.
pub(crate) struct Offer<'a> {
    /// The definitions that a model can choose from.
    pub(crate) choices: Option<&'a str>,
    /// The commands that may be gates.
    pub(crate) gates: &'a [String],
    /// The number of sub-agents that work at once.
    pub(crate) at_once: usize,
    /// True if models may merge.
    pub(crate) may_merge: bool,
}

/// What is said of the tool that merges where the user alone may.
const ONLY_CHECKS: &str = "Here it only checks (check: true): the user takes results with pi-subagents review, or lets you by starting this server with --allow-merge.";

/// Returns a tool as clients list it.
pub(crate) fn listed(tool: calls::Tool, offer: &Offer<'_>) -> (Tool, Effect) {
    let described = tool.description.replace(TOLD, HAS_TO_ASK);
    let described = described.replace(SEVERAL_AT_ONCE, &at_once(offer.at_once));
    let description = match offer.choices {
        Some(choices) => format!("{described} {choices}"),
        None => described,
    };
    let only_checks = tool.effect == Effect::Merges && !offer.may_merge;
    let (description, effect) = if only_checks {
        (format!("{description} {ONLY_CHECKS}"), Effect::Reads)
    } else {
        (description, tool.effect)
    };
    let mut schema = object(tool.parameters).unwrap_or_default();
    extend(tool.name, &mut schema);
    name_gates(&mut schema, offer.gates);
    let mut listed = Tool::new(tool.name, description, Arc::new(schema))
        .with_title(tool.label)
        .with_annotations(annotations(effect));
    listed.meta = Some(hints(tool.name));
    (listed, effect)
}

/// Says how many sub-agents work at once.
fn at_once(number: usize) -> String {
    match number {
        0 | 1 => "one runs at a time".to_owned(),
        number => format!("{number} run at once"),
    }
}

/// Names the commands that may be gates wherever a schema has the field, or takes the field out if
/// there are none: every other command is refused.
fn name_gates(schema: &mut Map<String, Value>, gates: &[String]) {
    if let Some(Value::Object(fields)) = schema.get_mut("properties")
        && let Some(gate) = fields.get_mut(GATE)
    {
        if gates.is_empty() {
            fields.shift_remove(GATE);
        } else {
            let words = gate["description"].take();
            *gate = json!({"type": "string", "enum": gates});
            if words.is_string() {
                gate["description"] = words;
            }
        }
    }
    for inner in schema.values_mut() {
        if let Value::Object(inner) = inner {
            name_gates(inner, gates);
        }
    }
}

const GATE: &str = "gate";

/// Returns hints for Claude Code, which shows its model only the names of most tools until it looks
/// for them.
fn hints(tool: &str) -> MetaObject {
    let hint = if tool == DELEGATE {
        ("anthropic/alwaysLoad".to_owned(), json!(true))
    } else {
        let words = "delegate parallel sub-agents background worktree other models";
        ("anthropic/searchHint".to_owned(), json!(words))
    };
    MetaObject([hint].into_iter().collect())
}

/// Returns a resource as clients list it.
pub(crate) fn listed_resource(
    uri: String,
    name: String,
    title: String,
    description: String,
) -> Resource {
    Resource::new(uri, name)
        .with_title(title)
        .with_description(description)
        .with_mime_type(TEXT)
}

/// Returns the form of the URIs of some resources (RFC 6570) as clients list it.
pub(crate) fn listed_template(
    uri_template: String,
    name: &str,
    title: &str,
    description: &str,
) -> ResourceTemplate {
    ResourceTemplate::new(uri_template, name)
        .with_title(title)
        .with_description(description)
        .with_mime_type(TEXT)
}

/// Returns the hints about a tool. Each hint is given, because the protocol assumes the worst if
/// one is missing.
fn annotations(effect: Effect) -> ToolAnnotations {
    match effect {
        Effect::Reads => ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false),
        Effect::Starts | Effect::Runs => ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(true),
        Effect::Merges => ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(true)
            .open_world(false),
    }
}

/// Returns the answer to a call: a text for the client's model, and the same as data for programs.
pub(crate) fn answered(text: String, details: Option<Map<String, Value>>) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.meta = details.map(|details| {
        let named = [(DETAILS.to_owned(), details.into())];
        MetaObject(named.into_iter().collect())
    });
    result
}

/// Returns the answer to a call that was not begun.
pub(crate) fn refused(text: String, details: Option<Map<String, Value>>) -> CallToolResult {
    let mut result = answered(text, details);
    result.is_error = Some(true);
    result
}

/// Returns the fields of a JSON object.
pub(crate) fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}
