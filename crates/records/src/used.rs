//! The figures of a run, as the index notes them with the run's end, so that a list of many runs needs no
//! record.

use pi_subagents_vocabulary::Usage;
use serde::{Deserialize, Serialize};

use crate::format::RunResult;

/// The figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Used {
    /// The number of tool calls.
    pub calls: usize,
    /// Its tokens and their cost.
    pub usage: Usage,
}

/// The same numbers in a line of the index. A number that is zero is not written.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct UsedRecord {
    #[serde(skip_serializing_if = "is_nothing")]
    calls: u64,
    #[serde(skip_serializing_if = "is_nothing")]
    input: u64,
    #[serde(skip_serializing_if = "is_nothing")]
    output: u64,
    #[serde(skip_serializing_if = "is_nothing")]
    cache_read: u64,
    #[serde(skip_serializing_if = "is_nothing")]
    cache_write: u64,
    /// Dollars; left out when a price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_nothing(number: &u64) -> bool {
    *number == 0
}

/// The figures of a run that is over, and the model that they are about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UsedByRun {
    pub(crate) figures: Used,
    pub(crate) model: Option<String>,
}

impl From<&RunResult> for UsedByRun {
    fn from(result: &RunResult) -> Self {
        Self {
            figures: Used {
                calls: result.tool_calls,
                usage: result.usage.into(),
            },
            model: result.full_model(),
        }
    }
}

impl From<Used> for UsedRecord {
    fn from(used: Used) -> Self {
        Self {
            calls: u64::try_from(used.calls).unwrap_or(u64::MAX),
            input: used.usage.input,
            output: used.usage.output,
            cache_read: used.usage.cache_read,
            cache_write: used.usage.cache_write,
            cost: used.usage.cost,
        }
    }
}

impl From<UsedRecord> for Used {
    fn from(record: UsedRecord) -> Self {
        Self {
            calls: usize::try_from(record.calls).unwrap_or(usize::MAX),
            usage: Usage {
                input: record.input,
                output: record.output,
                cache_read: record.cache_read,
                cache_write: record.cache_write,
                cost: record.cost,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_index_has_only_what_a_run_used() {
        let used = Used {
            calls: 3,
            usage: Usage {
                input: 4000,
                cache_read: 20,
                cost: Some(0.25),
                ..Usage::default()
            },
        };
        for (used, line) in [
            (
                used,
                r#"{"calls":3,"input":4000,"cacheRead":20,"cost":0.25}"#,
            ),
            (Used::default(), "{}"),
        ] {
            let written = serde_json::to_string(&UsedRecord::from(used)).expect("a line");
            assert_eq!(written, line);
            let read: UsedRecord = serde_json::from_str(line).expect("a record");
            assert_eq!(Used::from(read), used);
        }
    }
}
