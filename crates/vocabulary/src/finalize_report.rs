//! The report by which a child ends its run, if its definition asks for one.

use pi_subagents_schemas::Misfit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tool a child reports with.
pub const FINALIZE_TOOL: &str = "subagent_finalize";

/// A valid report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finalized {
    /// The child fulfilled its task.
    Success {
        /// The result of the work.
        result: String,
    },
    /// The child could not.
    Error {
        /// The reason why it could not.
        error: String,
        /// The result that was reached in spite of the error.
        result: Option<String>,
    },
}

/// The number of reports without a fitting result that end a run.
pub const MOST_MISFITS: u32 = 5;

/// The title of the dialog by which a child asks whether a report fits, before the id of the call.
pub const REPORT_QUESTION: &str = "pi-subagents:report ";

/// The answer to a report that fits; every other answer says what does not.
pub const REPORT_FITS: &str = "fits";

/// A report with a result that was checked against the schema of its run.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedReport {
    /// The number of reports that were checked, this one included.
    pub attempt: u32,
    /// The result, as it was checked.
    pub result: Value,
    /// The misfit; `None` for a result that meets the schema.
    pub misfit: Option<Misfit>,
}

/// The best of the results that did not meet the schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rejected {
    /// The result; `None` if it is too large to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The misfit of the result.
    #[serde(flatten)]
    pub misfit: Misfit,
}

/// The size of the largest rejected result that is kept, in bytes.
const LARGEST_REJECTED: usize = 64 << 10;

impl Rejected {
    /// Keeps a rejected report if it is closer to the schema than what is kept already.
    pub(crate) fn keep(kept: &mut Option<Self>, report: &CheckedReport) {
        let Some(misfit) = &report.misfit else {
            return;
        };
        if kept
            .as_ref()
            .is_some_and(|kept| kept.misfit.count <= misfit.count)
        {
            return;
        }
        let fits = report.result.to_string().len() <= LARGEST_REJECTED;
        *kept = Some(Self {
            result: fits.then(|| report.result.clone()),
            misfit: misfit.clone(),
        });
    }
}

impl Finalized {
    /// Makes the report of a result that meets the schema of its run; its text is indented JSON.
    pub fn structured(result: &Value) -> Self {
        Self::Success {
            result: serde_json::to_string_pretty(result).unwrap_or_default(),
        }
    }

    /// Reads the arguments of the tool; `None` for a report that lacks a field which its status
    /// needs.
    pub fn read(details: &Value) -> Option<Self> {
        let text = |field: &str| {
            let text = details.get(field)?.as_str()?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        // If a schema is asked for, a partial result may be no text.
        let partial = || match details.get("result")? {
            value @ (Value::Object(_) | Value::Array(_)) => {
                serde_json::to_string_pretty(value).ok()
            }
            _ => text("result"),
        };
        match details.get("status")?.as_str()? {
            "SUCCESS" => Some(Self::Success {
                result: text("result")?,
            }),
            "ERROR" => Some(Self::Error {
                error: text("error")?,
                result: partial(),
            }),
            _ => None,
        }
    }

    /// Returns the run's output, as the report has it.
    pub fn output(&self) -> Option<&str> {
        match self {
            Self::Success { result } => Some(result),
            Self::Error { result, .. } => result.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_needs_what_its_status_needs() {
        assert_eq!(
            Finalized::read(&json!({"status": "SUCCESS", "result": "done"})),
            Some(Finalized::Success {
                result: "done".to_owned()
            })
        );
        assert_eq!(
            Finalized::read(&json!({"status": "ERROR", "error": "no", "result": "half"})),
            Some(Finalized::Error {
                error: "no".to_owned(),
                result: Some("half".to_owned())
            })
        );
        for bad in [
            json!({"status": "SUCCESS"}),
            json!({"status": "SUCCESS", "result": "  "}),
            json!({"status": "ERROR", "result": "half"}),
            json!({"status": "DONE", "result": "x"}),
            json!({"result": "x"}),
            json!(null),
        ] {
            assert_eq!(Finalized::read(&bad), None, "{bad}");
        }
    }
}
