//! The tools of the delegation family, as a caller's model sees them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::schema::delegate_parameters;
use crate::arguments;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const DELEGATE: &str = "delegate_to_subagents";
pub const OUTPUT: &str = "get_subagent_output";
pub const SESSION: &str = "get_subagent_session";
pub const PROFILES: &str = "list_subagent_profiles";

/// Arguments of the tools that read a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct SessionCall {
    /// The session id that `delegate_to_subagents` returned.
    #[serde(deserialize_with = "arguments::text")]
    pub(crate) session_id: String,
}

/// Arguments of a tool that takes none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub(crate) struct NoArguments {}

/// Returns the tools of the family, in the order of the reference.
pub fn tools() -> Vec<Tool> {
    vec![
        Tool {
            name: DELEGATE,
            label: "Delegate",
            effect: Effect::Runs,
            offered: Offered::Always,
            uses_definitions: true,
            needs_models: false,
            snippet: "Run tasks in parallel in isolated sub-agents",
            guidelines: &[
                "Use delegate_to_subagents for independent pieces of work that need no answers from each other; write each prompt so that it can be understood without this conversation.",
                "Read what a sub-agent answered with get_subagent_output; continue one with the resume field and its session id.",
            ],
            description: "Spawn one or more parallel sub-agents to work on separate tasks. Each runs in an isolated process with its own context, tools and working directory. Returns one line per task with its session id; read what a sub-agent answered with get_subagent_output.",
            parameters: delegate_parameters(),
        },
        Tool {
            name: OUTPUT,
            label: "Sub-agent output",
            effect: Effect::Reads,
            offered: Offered::Always,
            uses_definitions: false,
            needs_models: false,
            snippet: "Read the final answer of a sub-agent session",
            guidelines: &[],
            description: "Retrieve the final text of a sub-agent session; for a resumed session, that of its latest run.",
            parameters: parameters::<SessionCall>(),
        },
        Tool {
            name: SESSION,
            label: "Sub-agent session",
            effect: Effect::Reads,
            offered: Offered::Always,
            uses_definitions: false,
            needs_models: false,
            snippet: "Read everything a sub-agent said and did",
            guidelines: &[
                "Prefer get_subagent_output; get_subagent_session is long and meant for finding out what went wrong.",
            ],
            description: "Retrieve the complete transcript of a sub-agent session: all messages, tool calls and tool results of all its runs.",
            parameters: parameters::<SessionCall>(),
        },
        Tool {
            name: PROFILES,
            label: "Sub-agent profiles",
            effect: Effect::Reads,
            offered: Offered::Always,
            uses_definitions: true,
            needs_models: false,
            snippet: "List the named sub-agents that can be used",
            guidelines: &[],
            description: "List all named sub-agent profiles that can be used with delegate_to_subagents.",
            parameters: parameters::<NoArguments>(),
        },
    ]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_are_plain_and_whole_in_themselves() {
        let schema = delegate_parameters();
        let task = &schema["properties"]["tasks"]["items"];
        assert_eq!(schema["required"], json!(["tasks"]));
        assert_eq!(schema["properties"]["tasks"]["maxItems"], 64);
        assert_eq!(task["required"], json!(["prompt"]));
        assert_eq!(task["properties"]["timeout"]["type"], "number");
        assert_eq!(task["properties"]["timeout"]["minimum"], 1);
        let text = schema.to_string();
        for unwanted in ["null", "$ref", "\"format\""] {
            assert!(!text.contains(unwanted), "{unwanted} in {text}");
        }
    }
}
