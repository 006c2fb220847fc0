//! The tool as a caller's model sees it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const MERGE: &str = "merge_subagents";

/// Arguments of `merge_subagents`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct MergeCall {
    /// Run or session ids, or names of tasks, in the order in which they are merged. Without them,
    /// everything that waits.
    #[serde(default, deserialize_with = "arguments::list")]
    #[schemars(with = "Vec<String>")]
    pub(super) runs: Vec<String>,
    /// Only say what fits the checkout and each other; nothing is changed.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub(super) check: bool,
    /// Make a commit of each run instead of uncommitted changes.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub(super) commit: bool,
}

pub fn tools() -> Vec<Tool> {
    vec![Tool {
        name: MERGE,
        label: "Merge sub-agents",
        effect: Effect::Merges,
        offered: Offered::WithResults,
        uses_definitions: false,
        needs_models: false,
        snippet: "Merge what sub-agents changed in their worktrees into this checkout, or check what fits",
        guidelines: &[
            "Use merge_subagents with check before you merge several sub-agents; look at what was merged afterwards, and run the tests.",
        ],
        description: "Bring the changes that sub-agents made in their worktrees into this checkout, as uncommitted changes beside those that are there. Each is merged whole or not at all; one that conflicts is left out and named with file and lines, and nothing is overwritten.",
        parameters: parameters::<MergeCall>(),
    }]
}
