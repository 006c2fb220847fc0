//! The tool as a caller's model sees it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const REVIEW: &str = "review_subagents";

/// Arguments of `review_subagents`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct ReviewCall {
    /// list (what waits, with reasons), show, accept, `send_back`, discard or undo (the last accept).
    #[serde(default, deserialize_with = "arguments::optional_text")]
    #[schemars(with = "Option<String>")]
    pub(super) action: Option<String>,
    /// Run or session ids, or names of tasks. accept without them takes all that stay green.
    #[serde(default, deserialize_with = "arguments::list")]
    #[schemars(with = "Vec<String>")]
    pub(super) runs: Vec<String>,
    /// For `send_back`: what is to be done differently.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    #[schemars(with = "Option<String>")]
    pub(super) note: Option<String>,
}

pub fn tools() -> Vec<Tool> {
    vec![Tool {
        name: REVIEW,
        label: "Review sub-agents",
        effect: Effect::Starts,
        offered: Offered::WithResults,
        uses_definitions: false,
        needs_models: false,
        snippet: "See which results of sub-agents wait, with reasons to look at them; take those that stay green, or send one back with a note",
        guidelines: &[
            "Use review_subagents before you report on work in worktrees; accept, discard and undo ask the user.",
        ],
        description: "Review the results of your sub-agents: what waits, the safe ones first, with the reasons for a look. accept runs the gate on them in a scratch copy, and takes those that stay green into this checkout in one step. A person must have allowed accept, discard and undo.",
        parameters: parameters::<ReviewCall>(),
    }]
}
