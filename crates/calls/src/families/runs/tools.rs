//! The tool as a caller's model sees it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const RUNS: &str = "subagent_runs";

/// Arguments of `subagent_runs`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct RunsCall {
    /// list (default); wait, which returns the answers of those that end; stop; steer.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    #[schemars(extend("enum" = ["list", "wait", "stop", "steer"]))]
    pub(super) action: Option<String>,
    /// Run or session ids, or names of tasks. wait without ids waits for all that run; other actions need them.
    #[serde(default, deserialize_with = "arguments::list")]
    #[schemars(with = "Vec<String>")]
    pub(super) ids: Vec<String>,
    /// How long to wait; 45 unless given. Runs that have not finished then continue.
    #[serde(default, deserialize_with = "arguments::optional_number")]
    #[schemars(range(min = 1))]
    pub(super) seconds: Option<f64>,
    /// What a sub-agent reads before its next turn, for steer.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    pub(super) message: Option<String>,
    /// Also list finished runs.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub(super) include_completed: bool,
    /// The first character of a session that is returned.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(skip)]
    pub(super) offset: Option<usize>,
    /// The number of characters of sessions that are returned.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(skip)]
    pub(super) limit: Option<usize>,
    /// True if the runs of others in this project are meant too.
    #[serde(default, deserialize_with = "arguments::flag")]
    #[schemars(skip)]
    pub(super) all: bool,
}

/// Returns the tool as it is inside pi.
pub fn tools() -> Vec<Tool> {
    vec![tool(
        "List the sub-agents of this session that run, in the foreground and in the background; wait until some have ended, with a time limit, and read their answers; stop some; or steer one: send it a message that it reads while it works.",
        parameters::<RunsCall>(),
    )]
}

/// Returns the tool as MCP clients have it.
pub fn client_tools() -> Vec<Tool> {
    let mut schema = parameters::<RunsCall>();
    let action = &mut schema["properties"]["action"];
    action["enum"] = json!([
        "list", "wait", "output", "session", "stop", "steer", "answer"
    ]);
    action["description"] = json!(
        "list (default); wait, which returns the answers of those that end; output: the whole answer of a session; session: its transcript; stop; steer; answer: answers a question (its id in ids, the answer in message), and waits as wait does."
    );
    // Inside pi other tools read sessions, and the session of pi has no runs of others.
    let fields = &mut schema["properties"];
    fields["offset"] = json!({"type": "integer", "minimum": 0, "description": "First character to return, for output and session."});
    fields["limit"] = json!({"type": "integer", "minimum": 1, "description": "Most characters to return, 20000 unless given."});
    fields["all"] = json!({"type": "boolean", "description": "Also runs that the user or others have started in this project; stop or steer those only if the user asks for it."});
    vec![tool(
        "Look after the sub-agents you have started, also in earlier connections: list those that run, wait for some, read answers and transcripts, stop some, or steer one. Do not ask again and again: wait returns when they have ended. Runs of the user or of others are seen only with all.",
        schema,
    )]
}

fn tool(description: &'static str, parameters: Value) -> Tool {
    Tool {
        name: RUNS,
        label: "Sub-agent runs",
        effect: Effect::Starts,
        offered: Offered::Always,
        uses_definitions: false,
        needs_models: false,
        snippet: "List sub-agents that run, wait for them, stop or steer them",
        guidelines: &[],
        description,
        parameters,
    }
}
