//! Gates: commands that must pass before a run counts as completed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A command that must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The command, for `sh -c`.
    pub command: String,
    /// The time limit of the command.
    #[serde(with = "crate::seconds")]
    pub timeout: Duration,
    /// The number of times that the sub-agent gets the failure and may mend it.
    pub retries: u32,
}

impl Gate {
    /// The time limit of a gate by default.
    pub const USUAL_TIMEOUT: Duration = Duration::from_mins(10);

    /// The number of retries by default.
    pub const USUAL_RETRIES: u32 = 2;

    /// The most gates that a task may have.
    pub const MOST: usize = 10;

    /// The most retries that a gate may have.
    pub const MOST_RETRIES: u32 = 20;

    /// The longest time that a gate may have.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_hours(24);

    /// Reads the gates of a task or a definition: a command, an object with a command, or a list
    /// of these. The error says what is wrong, as the end of a sentence that begins with the field.
    pub fn read_all(value: &Value) -> Result<Vec<Self>, String> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
            Value::Array(list) if list.len() > Self::MOST => Err(format!(
                "must have at most {} gates, not {}",
                Self::MOST,
                list.len()
            )),
            Value::Array(list) => list.iter().map(Self::read).collect(),
            one => Ok(vec![Self::read(one)?]),
        }
    }

    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(command) if !command.trim().is_empty() => Ok(Self::new(command.trim())),
            Value::Object(fields) => Self::read_fields(fields),
            _ => Err("must be a command, such as \"cargo test\", an object with a command, or a list of these".to_owned()),
        }
    }

    fn read_fields(fields: &Map<String, Value>) -> Result<Self, String> {
        let mut gate = Self::new("");
        for (name, value) in fields {
            match name.as_str() {
                "command" => {
                    let command = value.as_str().unwrap_or_default();
                    command.trim().clone_into(&mut gate.command);
                }
                "timeout" => gate.timeout = seconds(value)?,
                "retries" => gate.retries = retries(value)?,
                _ => {
                    return Err(format!(
                        "has no field {name}; known are command, timeout, retries"
                    ));
                }
            }
        }
        if gate.command.is_empty() {
            return Err("needs a command, such as \"cargo test\"".to_owned());
        }
        Ok(gate)
    }

    /// Writes gates as [`Gate::read_all`] reads them: a lone command as a text.
    pub fn write_all(gates: &[Self]) -> Value {
        match gates {
            [gate] => gate.write(),
            gates => gates.iter().map(Self::write).collect(),
        }
    }

    fn write(&self) -> Value {
        let mut written = json!({"command": self.command});
        if self.timeout != Self::USUAL_TIMEOUT {
            written["timeout"] = match self.timeout.subsec_nanos() {
                0 => json!(self.timeout.as_secs()),
                _ => json!(self.timeout.as_secs_f64()),
            };
        }
        if self.retries != Self::USUAL_RETRIES {
            written["retries"] = json!(self.retries);
        }
        match written.as_object() {
            Some(fields) if fields.len() == 1 => json!(self.command),
            _ => written,
        }
    }

    /// Makes a gate with the usual time and retries.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            timeout: Self::USUAL_TIMEOUT,
            retries: Self::USUAL_RETRIES,
        }
    }
}

fn seconds(value: &Value) -> Result<Duration, String> {
    let time = value
        .as_f64()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| (Duration::from_secs(1)..=Gate::LONGEST_TIMEOUT).contains(time))
        .ok_or_else(|| "needs a timeout from 1 to 86400 seconds".to_owned())
}

fn retries(value: &Value) -> Result<u32, String> {
    let retries = value.as_u64().and_then(|number| u32::try_from(number).ok());
    retries
        .filter(|number| *number <= Gate::MOST_RETRIES)
        .ok_or_else(|| "needs retries from 0 to 20".to_owned())
}

impl<T: Into<String>> From<T> for Gate {
    fn from(command: T) -> Self {
        Self::new(command)
    }
}

/// Something that happened to a gate of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated {
    /// The command.
    pub command: String,
    /// The number of times that it has been run, this time included.
    pub attempt: u32,
    /// The number of its log, `gate-N.log` in the run directory.
    pub log: u32,
    /// The step that happened.
    pub step: GateStep,
}

/// The steps of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateStep {
    /// The command began.
    Began,
    /// It ended with 0.
    Passed,
    /// It did not pass.
    Failed {
        /// The way in which it ended, in a few words.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn gates_are_written_as_they_are_read() {
        for written in [
            json!("cargo test"),
            json!({"command": "cargo test", "timeout": 60, "retries": 0}),
            json!(["cargo fmt --check", {"command": "cargo test", "retries": 5}]),
        ] {
            let gates = Gate::read_all(&written).unwrap();
            assert_eq!(Gate::write_all(&gates), written);
        }
        assert_eq!(Gate::read_all(&json!("  ")), Ok(Vec::new()));
        assert_eq!(Gate::read_all(&Value::Null), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_gate_is_refused_in_words() {
        let errors = [
            json!(7),
            json!([[]]),
            json!({}),
            json!({"command": " "}),
            json!({"command": "x", "timeout": 0.5}),
            json!({"command": "x", "timeout": 1e9}),
            json!({"command": "x", "retries": -1}),
            json!({"command": "x", "retry": 1}),
            json!(vec!["x"; 11]),
        ]
        .map(|value| Gate::read_all(&value).unwrap_err());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        must be a command, such as "cargo test", an object with a command, or a list of these
        must be a command, such as "cargo test", an object with a command, or a list of these
        needs a command, such as "cargo test"
        needs a command, such as "cargo test"
        needs a timeout from 1 to 86400 seconds
        needs a timeout from 1 to 86400 seconds
        needs retries from 0 to 20
        has no field retry; known are command, timeout, retries
        must have at most 10 gates, not 11
        "#);
    }
}
