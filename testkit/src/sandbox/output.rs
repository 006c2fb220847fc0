//! The output and the exit status of a command.

use std::fmt;

use serde_json::Value;

use super::normalise::Normaliser;

/// The end and the output of a command. Its `Display` is normalised, for snapshots.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit code, if it exited.
    pub code: Option<i32>,
    /// The signal, if it died of one.
    pub signal: Option<i32>,
    /// Stdout as it came.
    pub stdout: String,
    /// Stderr as it came.
    pub stderr: String,
    pub(super) normaliser: Normaliser,
}

impl CommandOutput {
    /// Returns stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON: {error}\n{self}"))
    }

    /// Returns the lines of stdout as JSON values.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("no JSON: {error}: {line}\n{self}"))
            })
            .collect()
    }

    /// Returns itself if the exit code is 0.
    #[track_caller]
    #[expect(
        clippy::return_self_not_must_use,
        reason = "often the success is all a test wants to see"
    )]
    pub fn expect_success(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }
}

impl fmt::Display for CommandOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match (self.code, self.signal) {
            (Some(code), _) => format!("{code}\n"),
            (None, Some(signal)) => format!("signal {signal}\n"),
            (None, None) => "unknown\n".to_owned(),
        };
        let text = format!(
            "--- exit code\n{end}[EOF]\n--- stdout\n{}[EOF]\n--- stderr\n{}[EOF]\n",
            self.stdout, self.stderr
        );
        formatter.write_str(&self.normaliser.normalise(&text))
    }
}
