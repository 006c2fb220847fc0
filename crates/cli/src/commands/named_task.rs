//! A task for one sub-agent, as it is typed or read from a file.

use std::path::PathBuf;

use clap::Args;
use pi_subagents_vocabulary::SessionId;
use serde_json::{Value, json};

use super::option_place::OptionPlace;
use super::which_agent::{Meant, what_is_meant};
use crate::cli::{DryRunArgs, RunArgs};
use crate::commands::call::read_call;
use crate::commands::words::joined;
use pi_subagents_calls::{Continues, TaskRequest};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// The help of `--timeout`: these commands have no limit by default.
pub(super) const TIMEOUT: &str = "Time limit per task in seconds, unless the task sets its own. A task whose tools are still active may run longer [default: the timeout of the agent, or no limit]";

/// Arguments of `run` and `spawn`; each says itself what its `--file` holds.
#[derive(Args)]
pub(crate) struct NamedTaskArgs {
    #[command(flatten)]
    options: OptionPlace,
    /// Name of the agent that does the task; without one, a plain sub-agent does it
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The task; several words are joined, and - reads it from stdin
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Agent that does the task; all words are the prompt then
    #[arg(long, short, alias = "profile", value_name = "NAME")]
    agent: Option<String>,
    /// Read the call as JSON from a file, or from stdin with -
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "prompt", "agent", "session"])]
    file: Option<PathBuf>,
    /// Session to continue, with its whole conversation [default: a new one]
    #[arg(long, value_name = "ID", value_parser = parse_session)]
    session: Option<SessionId>,
    #[command(flatten)]
    pub(super) run: RunArgs,
    #[command(flatten)]
    pub(super) dry_run: DryRunArgs,
}

fn parse_session(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

fn no_task() -> CommandError {
    CommandError::usage("no task was given")
        .hint("Give a prompt in quotes, or --file FILE with the JSON of the tool's call.")
}

impl NamedTaskArgs {
    /// Returns the typed task; `None` if a file holds it.
    pub(super) fn typed(
        &self,
        places: &Places,
        configuration: &Configuration,
        printer: Printer,
    ) -> Result<Option<TaskRequest>, CommandError> {
        let Some(first) = &self.name else {
            return Ok(None);
        };
        let Meant { agent, leading } = match &self.agent {
            Some(agent) => Meant {
                agent: agent.clone(),
                leading: 0,
            },
            None => what_is_meant(first, &self.prompt, places, configuration, printer)?,
        };
        let words: Vec<String> = std::iter::once(first)
            .chain(&self.prompt)
            .skip(leading)
            .cloned()
            .collect();
        self.options.check(leading, words.len())?;
        let task = TaskRequest::new("", joined("prompt", &words)?).agent(agent);
        Ok(Some(match &self.session {
            Some(session) => task.continues(Continues::Session(session.clone())),
            None => task,
        }))
    }

    /// Reads the JSON of the tool's call from the file that was named; also returns the name of the
    /// file, for errors.
    pub(super) fn in_file(&self) -> Result<(String, Value), CommandError> {
        let file = self.file.as_deref();
        read_call(file.ok_or_else(no_task)?)
    }

    /// Returns the JSON of the tool's call, for another process.
    pub(super) fn json(
        &self,
        places: &Places,
        configuration: &Configuration,
        printer: Printer,
    ) -> Result<Value, CommandError> {
        let Some(task) = self.typed(places, configuration, printer)? else {
            return Ok(self.in_file()?.1);
        };
        Ok(json!({
            "preset": task.agent_name(),
            "task": task.prompt(),
            "sessionId": self.session.as_ref().map(SessionId::as_str),
        }))
    }
}
