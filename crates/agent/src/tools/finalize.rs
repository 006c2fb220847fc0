//! `subagent_finalize`: how a sub-agent reports its result and ends its run.

use serde_json::Value;

use super::{ToolError, ToolOutput, ToolResult};

/// Takes the report. A success without a result is refused, so that the model gives one.
pub(super) fn run(report: Value) -> ToolResult {
    let is_filled = |name: &str| report[name].as_str().is_some_and(|text| !text.is_empty());
    if report["status"] == "SUCCESS" && !is_filled("result") {
        return Err(ToolError::new("SUCCESS requires a non-empty result"));
    }
    if report["status"] == "ERROR" && !is_filled("error") {
        return Err(ToolError::new("ERROR requires a non-empty error"));
    }
    Ok(ToolOutput {
        terminate: true,
        ..ToolOutput::text("finalized").with_details(report)
    })
}
