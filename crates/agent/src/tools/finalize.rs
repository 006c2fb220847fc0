//! `subagent_finalize`: how a sub-agent reports its result and ends its run.

use pi_subagents_vocabulary::OutputSchema;
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
    Ok(finalized(report))
}

/// Takes a report whose result must meet a schema. The arguments are checked as they are: a value
/// that was converted first would meet a schema that the model did not.
pub(super) fn run_typed(report: Value, schema: &OutputSchema) -> ToolResult {
    match report["status"].as_str() {
        Some("SUCCESS") => {
            let result = report.get("result");
            let result = result.ok_or_else(|| ToolError::new("SUCCESS needs a result"))?;
            schema
                .check(result)
                .map_err(|misfit| ToolError::new(misfit.correction()))?;
        }
        Some("ERROR")
            if report["error"]
                .as_str()
                .is_some_and(|text| !text.trim().is_empty()) => {}
        Some("ERROR") => return Err(ToolError::new("ERROR needs a non-empty error")),
        _ => return Err(ToolError::new("status must be \"SUCCESS\" or \"ERROR\"")),
    }
    Ok(finalized(report))
}

fn finalized(report: Value) -> ToolOutput {
    ToolOutput {
        terminate: true,
        ..ToolOutput::text("finalized").with_details(report)
    }
}
