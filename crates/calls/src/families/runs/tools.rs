//! The tool as a caller's model sees it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const RUNS: &str = "subagent_runs";

/// Arguments of `subagent_runs`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct RunsCall {
    /// list (default), wait, stop or steer.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    #[schemars(extend("enum" = ["list", "wait", "stop", "steer"]))]
    pub(super) action: Option<String>,
    /// Run or session ids. wait without ids waits for all that run; stop and steer need them.
    #[serde(default, deserialize_with = "arguments::list")]
    #[schemars(with = "Vec<String>")]
    pub(super) ids: Vec<String>,
    /// How long to wait; 45 unless given. What is not over then goes on.
    #[serde(default, deserialize_with = "arguments::optional_number")]
    #[schemars(range(min = 1))]
    pub(super) seconds: Option<f64>,
    /// What a sub-agent hears before its next turn, for steer.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    pub(super) message: Option<String>,
    /// List also runs that are over.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub(super) include_completed: bool,
}

pub fn tools() -> Vec<Tool> {
    vec![Tool {
        name: RUNS,
        label: "Sub-agent runs",
        effect: Effect::Starts,
        offered: Offered::Always,
        uses_definitions: false,
        needs_models: false,
        snippet: "List sub-agents at work, wait for them, stop or steer them",
        guidelines: &[],
        description: "List the sub-agents you have started that are at work, in the foreground and in the background; wait until some are over, with a time limit; stop some; or steer one: say something to it while it works.",
        parameters: parameters::<RunsCall>(),
    }]
}
