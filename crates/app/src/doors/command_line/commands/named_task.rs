//! A task for a named sub-agent, as it is typed or read from a file.

use std::path::PathBuf;

use clap::Args;
use pi_subagents_delegation::SessionId;
use serde_json::{Value, json};

use crate::calls::families::subagent::AgentTask;
use crate::doors::command_line::cli::RunArgs;
use crate::doors::command_line::commands::call::read_call;
use crate::doors::command_line::commands::words::joined;
use crate::error::CommandError;

/// The help of `--timeout`: these commands have no limit by default.
pub(super) const TIMEOUT: &str = "Time limit per task in seconds, unless the task sets its own. A task whose tools are still active may run longer [default: the timeout of the definition, or no limit]";

/// Arguments of `run` and `spawn`; each says itself what its `--file` holds.
#[derive(Args)]
pub(crate) struct NamedTaskArgs {
    /// Name of the definition that does the task
    #[arg(value_name = "NAME", required_unless_present = "file")]
    pub(super) agent: Option<String>,
    /// The task; several words are joined, and - reads it from stdin
    #[arg(value_name = "TASK", required_unless_present = "file")]
    task: Vec<String>,
    /// Read the call as JSON from a file, or from stdin with -
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "task", "session"])]
    file: Option<PathBuf>,
    /// Session to continue, with its whole conversation [default: a new one]
    #[arg(long, value_name = "ID", value_parser = parse_session)]
    session: Option<SessionId>,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

fn parse_session(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

impl NamedTaskArgs {
    /// Returns the task that was typed; none where a file holds it.
    pub(super) fn typed(&self) -> Result<Option<AgentTask>, CommandError> {
        let Some(agent) = &self.agent else {
            return Ok(None);
        };
        Ok(Some(AgentTask {
            agent: agent.clone(),
            task: joined("task", &self.task)?,
            model: None,
            cwd: None,
            session: self.session.clone(),
            timeout: None,
        }))
    }

    /// Reads the JSON of the tool's call from the file that was named; also returns the name of the
    /// file, for errors.
    pub(super) fn in_file(&self) -> Result<(String, Value), CommandError> {
        let file = self.file.as_deref();
        read_call(file.ok_or_else(|| CommandError::usage("no task was given"))?)
    }

    /// Returns the JSON of the tool's call, for another process.
    pub(super) fn json(&self) -> Result<Value, CommandError> {
        if self.file.is_some() {
            return Ok(self.in_file()?.1);
        }
        let call = json!({
            "preset": self.agent,
            "task": joined("task", &self.task)?,
            "sessionId": self.session.as_ref().map(SessionId::as_str),
        });
        Ok(call)
    }
}
