//! The report by which a child ends its run, if its definition asks for one.

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

impl Finalized {
    /// Reads the arguments of the tool; `None` for a report that lacks a field which its status
    /// needs.
    pub fn read(details: &Value) -> Option<Self> {
        let text = |field: &str| {
            let text = details.get(field)?.as_str()?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        match details.get("status")?.as_str()? {
            "SUCCESS" => Some(Self::Success {
                result: text("result")?,
            }),
            "ERROR" => Some(Self::Error {
                error: text("error")?,
                result: text("result"),
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
