//! The figures of a run, as the index notes them with the run's end, so that a list of many runs needs no
//! record.

use pi_subagents_vocabulary::{RunReport, Usage};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

/// The figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
pub struct Used {
    /// The number of tool calls.
    #[serde(default)]
    pub calls: usize,
    /// Its tokens and their cost.
    #[serde(flatten)]
    pub usage: Usage,
}

/// Writes the figures as they stand in a line of the index: without the numbers that are zero, and
/// without an unknown cost. There are very many such lines.
impl Serialize for Used {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let usage = &self.usage;
        let numbers = [
            ("calls", u64::try_from(self.calls).unwrap_or(u64::MAX)),
            ("input", usage.input),
            ("output", usage.output),
            ("cacheRead", usage.cache_read),
            ("cacheWrite", usage.cache_write),
        ];
        let mut map = serializer.serialize_map(None)?;
        for (name, number) in numbers.into_iter().filter(|(_, number)| *number > 0) {
            map.serialize_entry(name, &number)?;
        }
        if let Some(cost) = usage.cost {
            map.serialize_entry("cost", &cost)?;
        }
        if usage.cost_is_at_least {
            map.serialize_entry("costIsAtLeast", &true)?;
        }
        map.end()
    }
}

/// The figures of a run that is over, and the model that they are about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UsedByRun {
    pub(crate) figures: Used,
    pub(crate) model: Option<String>,
}

impl From<&RunReport> for UsedByRun {
    fn from(report: &RunReport) -> Self {
        Self {
            figures: Used {
                calls: report.tool_calls.unwrap_or_default(),
                usage: report.usage.unwrap_or_default(),
            },
            model: report.full_model(),
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
            let written = serde_json::to_string(&used).expect("a line");
            assert_eq!(written, line);
            let read: Used = serde_json::from_str(line).expect("a record");
            assert_eq!(read, used);
        }
    }
}
