//! The one tool by which an MCP client starts sub-agents: one or many, and waits for them or not. It
//! is `delegate_to_subagents` with other words and a few more fields.

use serde_json::{Value, json};

use super::delegation::DELEGATE;
use crate::tool::{Effect, Offered, Tool};

/// The field that lets the work go on while the caller does something else.
pub const BACKGROUND_FIELD: &str = "background";

/// Returns the tool.
pub fn tools() -> Vec<Tool> {
    vec![Tool {
        name: DELEGATE,
        label: "Delegate to sub-agents",
        effect: Effect::Runs,
        offered: Offered::Always,
        uses_definitions: true,
        needs_models: false,
        snippet: "",
        guidelines: &[],
        description: DESCRIPTION,
        parameters: parameters(),
    }]
}

/// The words of the description in whose place a server puts the number of its settings.
pub const SEVERAL_AT_ONCE: &str = "several run at once";

const DESCRIPTION: &str = "\
Give tasks to sub-agents. Each is a separate process with its own context, tools and model; several run at once, the others wait their turn. \
Delegate independent work of which only the result matters to you, such as reading much code, a review or a long test, or what another agent or model does better. Do short things and your next step yourself. \
A sub-agent sees its prompt and files and nothing of this conversation, so write as to a colleague who has just come in: the goal, the paths, what is known, whether to change files or only to look, how to check the work, and how long a report you want. \
It edits files and runs commands without asking anybody, and has no sub-agents. \
Returns each answer with what the sub-agent was seen doing (files, commands, tests), by which you can check what it claims, and a session id to resume it.";

/// Returns the schema. Fields that few models need are accepted and not listed.
fn parameters() -> Value {
    let text = |words: &str| json!({"type": "string", "description": words});
    json!({
        "type": "object",
        "properties": {
            "tasks": {"type": "array", "minItems": 1, "maxItems": 16, "items": {
                "type": "object",
                "properties": {
                    "prompt": text("The whole task."),
                    "name": text("A few words for lists."),
                    "agent": text("The agent that does it; \"default\", a plain one, unless given."),
                    "model": text("As provider/id, instead of the agent's own."),
                    "cwd": text("Absolute path; your project unless given."),
                    "resume": text("Session id of an earlier sub-agent to continue."),
                    "files": {"type": "array", "items": {"type": "string"}, "description": "Files to put before the prompt."},
                    "isolation": {"type": "string", "enum": ["none", "worktree"], "description": "worktree: changes are made in a separate git worktree, and wait for merge_subagents."},
                    "sandbox": {"type": "string", "enum": ["workspace-write", "read-only"], "description": "What it may write. It can only tighten the user's choice."},
                    "gate": text("Command that must pass before the task counts as completed."),
                    "outputSchema": {"type": "object", "description": "JSON schema of the answer, which is then data."},
                    "timeout": {"type": "number", "minimum": 1, "description": "Seconds, 600 unless given; it continues while its tools run."},
                },
                "required": ["prompt"],
            }},
            BACKGROUND_FIELD: {"type": "boolean", "description": "Return at once. The work continues, also when this connection ends; subagent_runs waits for it."},
        },
        "required": ["tasks"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::delegation::DelegateCall;

    #[test]
    fn the_description_has_the_place_of_the_number() {
        assert!(DESCRIPTION.contains(SEVERAL_AT_ONCE));
    }

    #[test]
    fn every_field_that_is_listed_is_read() {
        let call = json!({"tasks": [{
            "prompt": "p", "name": "n", "agent": "scout", "model": "a/b", "cwd": "/w",
            "resume": "s", "files": ["x"], "isolation": "worktree", "sandbox": "read-only", "gate": "true",
            "outputSchema": {}, "timeout": 5
        }]});
        let listed = parameters();
        let listed = &listed["properties"]["tasks"]["items"]["properties"];
        for field in listed.as_object().expect("fields").keys() {
            assert!(call["tasks"][0].get(field).is_some(), "{field}");
        }
        let read = DelegateCall::parse(&call).expect("a call");
        let task = &read.tasks[0];
        assert_eq!(task.agent_name(), Some("scout"));
        assert_eq!(task.terms.model.as_deref(), Some("a/b"));
    }
}
