//! The tools of the background family, as a caller's model sees them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::families::subagent::task_parameters;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const BACKGROUND: &str = "background_agent";
pub const STATUS: &str = "background_agent_status";

/// Arguments of `background_agent_status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct StatusCall {
    /// One run, with its result if it has finished. Left out, all background runs that are running.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    pub(super) run_id: Option<String>,
    /// Also list finished runs.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub(super) include_completed: bool,
}

pub fn tools() -> Vec<Tool> {
    vec![
        Tool {
            name: BACKGROUND,
            label: "Background agent",
            effect: Effect::Starts,
            offered: Offered::Always,
            uses_definitions: true,
            needs_models: true,
            snippet: "Start a named sub-agent that works while you continue",
            guidelines: &[
                "Use background_agent for work whose result you do not need for your next step; use subagent when you do.",
                "After background_agent continue with something else: never poll for its end.",
            ],
            description: "Start a named sub-agent (preset; \"default\" is a plain one) in the background and return at once. It runs in a separate process, which continues when this conversation ends. Returns its run id, session id, the paths of its record and how many background runs there are. Do not poll for its end.",
            parameters: task_parameters(),
        },
        Tool {
            name: STATUS,
            label: "Background agents",
            effect: Effect::Reads,
            offered: Offered::Always,
            uses_definitions: false,
            needs_models: true,
            snippet: "See what the background agents do, or read the result of one",
            guidelines: &[
                "Call background_agent_status when you need a result or are asked about background agents, not again and again.",
            ],
            description: "Count the background runs (running, completed, failed, aborted, total) and list those that are running; with includeCompleted also the finished ones. With runId: one run, with its whole result if it has finished.",
            parameters: parameters::<StatusCall>(),
        },
    ]
}
