//! The JSON of commands that print nothing but runs.

use pi_subagents_runs::row::RunRow;
use schemars::JsonSchema;
use serde::Serialize;

/// Some runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunsResult<'a> {
    /// The runs, in the order in which they were named.
    pub(crate) runs: &'a [RunRow],
}
