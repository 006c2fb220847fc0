//! One run of a gate's command in the scratch copy of a checkout.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_os::{ProgramBounds, ProgramCommand, ProgramCut, run_bounded};
use pi_subagents_vocabulary::text::{clean, one_line};

use pi_subagents_ground::error::CommandError;

/// At most so many lines and bytes of a failed gate's output are kept: the last ones.
const MOST_LINES: usize = 60;
const MOST_BYTES: usize = 8 * 1024;

/// The most bytes that a gate may print.
const MOST_OUTPUT: usize = 64 * 1024 * 1024;

/// A gate with the directory in which it runs, below the top of the checkout.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GateCommand {
    pub(super) command: String,
    pub(super) inside: PathBuf,
    pub(super) timeout: Duration,
}

/// The verdict of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GateVerdict {
    Green,
    Red(RedGate),
}

/// A gate that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RedGate {
    /// The command.
    pub command: String,
    /// Its exit code.
    pub code: i32,
    /// The last lines of its output.
    pub output: String,
}

impl GateCommand {
    /// Runs it to its end. A command that cannot be run, dies of a signal or takes too long has proved
    /// nothing, and is an error.
    pub(super) fn run(
        &self,
        top: &Path,
        variables: &BTreeMap<OsString, OsString>,
    ) -> Result<GateVerdict, CommandError> {
        let directory = top.join(&self.inside);
        let is_there = directory.is_dir();
        let command = ProgramCommand {
            program: "/bin/sh".into(),
            // Both streams are read as one, in the order in which they are written.
            arguments: vec!["-c".into(), format!("exec 2>&1\n{}", self.command).into()],
            environment: variables.clone(),
            directory: Some(if is_there { directory } else { top.to_owned() }),
        };
        let bounds = ProgramBounds {
            time: self.timeout,
            output: MOST_OUTPUT,
        };
        let ended = run_bounded(&command, b"", bounds)
            .map_err(|error| self.stopped("it could not be started").because(&error))?;
        let ended = ended.map_err(|cut| match cut {
            ProgramCut::TimedOut => {
                let seconds = self.timeout.as_secs();
                self.stopped(&format!("it did not end within {seconds} s"))
            }
            ProgramCut::TooMuch => self.stopped("it printed more than 64 MB"),
        })?;
        let output = tail(&ended.stdout);
        match (ended.status.code(), ended.status.signal()) {
            (Some(0), _) => Ok(GateVerdict::Green),
            (Some(code @ (126 | 127)), _) => {
                let error = self.stopped(&format!("exit {code}, so it could not be run"));
                Err(output.lines().last().map_or_else(
                    || error.hint("Name a command that runs in this project."),
                    |line| self.stopped(&format!("exit {code}: {}", one_line(line))),
                ))
            }
            (Some(code), _) => Ok(GateVerdict::Red(RedGate {
                command: self.command.clone(),
                code,
                output,
            })),
            (None, Some(signal)) => Err(self.stopped(&format!("it was killed by signal {signal}"))),
            (None, None) => Err(self.stopped("nobody saw how it ended")),
        }
    }

    fn stopped(&self, why: &str) -> CommandError {
        let command = one_line(&self.command);
        CommandError::failed(format!(
            "the gate `{command}` proved nothing: {why}; nothing was taken"
        ))
    }
}

/// Returns the last lines of an output, without anything that could move a cursor.
fn tail(output: &[u8]) -> String {
    let from = output.len().saturating_sub(MOST_BYTES);
    let text = String::from_utf8_lossy(&output[from..]).into_owned();
    let lines: Vec<String> = text.lines().map(clean).collect();
    let from = lines.len().saturating_sub(MOST_LINES);
    lines[from..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str) -> Result<GateVerdict, String> {
        let gate = GateCommand {
            command: command.to_owned(),
            inside: PathBuf::new(),
            timeout: Duration::from_mins(1),
        };
        let path = std::env::var_os("PATH").unwrap();
        let variables = BTreeMap::from([("PATH".into(), path)]);
        let ran = gate.run(Path::new("/"), &variables);
        ran.map_err(|error| error.message().to_owned())
    }

    #[test]
    fn only_an_exit_of_the_command_itself_is_a_verdict() {
        assert_eq!(run("true"), Ok(GateVerdict::Green));
        let red = RedGate {
            command: "echo out; echo err >&2; exit 3".to_owned(),
            code: 3,
            output: "out\nerr".to_owned(),
        };
        assert_eq!(run(&red.command.clone()), Ok(GateVerdict::Red(red)));
        let killed = run("kill -KILL $$").unwrap_err();
        insta::assert_snapshot!(killed, @"the gate `kill -KILL $$` proved nothing: it was killed by signal 9; nothing was taken");
        let absent = run("/no-such-program").unwrap_err();
        assert!(absent.contains("exit 127: "), "{absent}");
    }
}
