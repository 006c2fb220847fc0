//! A task for a named sub-agent, as it is typed or read from a file.

use std::path::PathBuf;

use clap::Args;
use pi_subagents_delegation::SessionId;
use serde_json::{Value, json};

use crate::doors::command_line::cli::RunArgs;
use crate::doors::command_line::commands::call::read_call;
use crate::doors::command_line::commands::words::joined;
use crate::error::CommandError;

/// What `run` and `spawn` take.
#[derive(Args)]
pub(crate) struct NamedTaskArgs {
    /// The definition that does the task: a preset, or any other
    #[arg(value_name = "NAME", required_unless_present = "file")]
    pub(super) agent: Option<String>,
    /// What it is to do; words are joined, and - reads it from stdin
    #[arg(value_name = "TASK", required_unless_present = "file")]
    task: Vec<String>,
    /// A file with the JSON of the tool, or - for stdin: of `subagent` for run, also with tasks; of `background_agent` for spawn
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "task", "session"])]
    file: Option<PathBuf>,
    /// The session to continue, with everything said in it [default: a new one]
    #[arg(long, value_name = "ID", value_parser = parse_session)]
    session: Option<SessionId>,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

fn parse_session(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

impl NamedTaskArgs {
    /// The JSON of the tool's call, and the name of the file it came from, if it came from one.
    pub(super) fn call(&self) -> Result<(Option<String>, Value), CommandError> {
        if let Some(file) = &self.file {
            let (name, call) = read_call(file)?;
            return Ok((Some(name), call));
        }
        let call = json!({
            "preset": self.agent,
            "task": joined("task", &self.task)?,
            "sessionId": self.session.as_ref().map(SessionId::as_str),
        });
        Ok((None, call))
    }
}
