//! One run of a gate's command in the scratch copy of a checkout.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_os::{ProgramBounds, ProgramCommand, ProgramCut, run_bounded};
use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{REFUSAL_WORDS, refusal_hint};

use super::gate_sandbox::GateSandbox;
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
    /// nothing, and is an error. So is one whose sandbox cannot be made.
    pub(super) fn run(
        &self,
        top: &Path,
        variables: &BTreeMap<OsString, OsString>,
        sandbox: Option<&GateSandbox>,
    ) -> Result<GateVerdict, CommandError> {
        let not_started = |error| self.stopped("it could not be started").because(&error);
        let (command, input) = match sandbox {
            None => (self.open(top, variables), Vec::new()),
            Some(sandbox) => {
                let words = ["/bin/sh", "-c", &self.script_inside(top)];
                let words = words.map(str::to_owned).into();
                sandbox
                    .command(top, words, variables)
                    .map_err(not_started)?
            }
        };
        let bounds = ProgramBounds {
            time: self.timeout,
            output: MOST_OUTPUT,
        };
        let ended = run_bounded(&command, &input, bounds).map_err(not_started)?;
        let ended = ended.map_err(|cut| match cut {
            ProgramCut::TimedOut => {
                let seconds = self.timeout.as_secs();
                self.stopped(&format!("it did not end within {seconds} s"))
            }
            ProgramCut::TooMuch => self.stopped("it printed more than 64 MB"),
        })?;
        if sandbox.is_some() && !ended.stderr.is_empty() {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            let command = one_line(&self.command);
            let error = format!("the gate `{command}` proved nothing, and nothing was taken");
            return Err(CommandError::failed(error).because(&io::Error::other(clean(said.trim()))));
        }
        let mut output = tail(&ended.stdout);
        let is_refused = |_: &&GateSandbox| {
            !ended.status.success() && REFUSAL_WORDS.iter().any(|words| output.contains(words))
        };
        if let Some(sandbox) = sandbox.filter(is_refused) {
            let hint = refusal_hint(&sandbox.sandbox.to_string());
            output = format!("{output}\n{hint}");
        }
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

    /// Returns the command without a sandbox.
    fn open(&self, top: &Path, variables: &BTreeMap<OsString, OsString>) -> ProgramCommand {
        let directory = top.join(&self.inside);
        let is_there = directory.is_dir();
        ProgramCommand {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), self.script().into()],
            environment: variables.clone(),
            directory: Some(if is_there { directory } else { top.to_owned() }),
        }
    }

    /// Both streams are read as one, in the order in which they are written.
    fn script(&self) -> String {
        format!("exec 2>&1\n{}", self.command)
    }

    /// Returns the script for a process that begins at the top of the copy, which is all that it may
    /// write.
    fn script_inside(&self, top: &Path) -> String {
        let directory = top.join(&self.inside);
        match directory.to_str().filter(|_| directory.is_dir()) {
            Some(directory) => format!("cd {} || exit 126\n{}", quoted(directory), self.script()),
            None => self.script(),
        }
    }

    fn stopped(&self, why: &str) -> CommandError {
        let command = one_line(&self.command);
        CommandError::failed(format!(
            "the gate `{command}` proved nothing: {why}; nothing was taken"
        ))
    }
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
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
        let ran = gate.run(Path::new("/"), &variables, None);
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
