//! The MCP servers of a sub-agent: started with its first prompt, asked for their tools, called by
//! its model, and ended with it.
//!
//! A server is a stranger. Its time to start, the time of a call, the bytes that it sends and the
//! tools that it describes have limits, and a key of it is in no argument, no record and no error.

mod address;

mod content;
mod failure;
mod keys;
mod meter;
mod offered_tool;
mod program;
mod running_server;
mod tool_choice;
mod user_servers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use pi_subagents_files::read_own_text;
use pi_subagents_vocabulary::{McpServer, read_servers};
use tokio::sync::OnceCell;

use crate::abort::Aborted;
use crate::event::Event;
use crate::message::{ToolCall, ToolDeclaration};
use crate::notices;
use crate::output::Output;
use crate::tools::{ToolError, ToolOutput, ToolSurroundings};
use running_server::RunningServer;
pub(crate) use tool_choice::ToolChoice;
pub use user_servers::{HandedServers, configured_address};

/// A longer file of servers is not read.
const LARGEST_FILE: u64 = 1 << 20;

/// The places and the variables that servers are started with.
#[derive(Debug, Clone)]
pub(crate) struct ServerPlaces {
    pub(crate) cwd: PathBuf,
    pub(crate) agent_dir: PathBuf,
    /// The whole environment, keys included.
    pub(crate) variables: BTreeMap<String, String>,
}

/// The servers of an agent.
pub(crate) struct Servers {
    wanted: Vec<McpServer>,
    choice: ToolChoice,
    places: ServerPlaces,
    running: OnceCell<Vec<RunningServer>>,
}

/// A server that the run needs did not start.
#[derive(Debug, thiserror::Error)]
#[error("The MCP server {0}, which this agent needs, did not start: {1}")]
pub(crate) struct MissingServer(String, String);

impl Servers {
    pub(crate) fn new(wanted: Vec<McpServer>, choice: ToolChoice, places: ServerPlaces) -> Self {
        Self {
            wanted: choice.servers(wanted),
            choice,
            places,
            running: OnceCell::new(),
        }
    }

    /// Reads the file in which an owner names the servers of its child.
    pub(crate) fn read(file: &str) -> Result<Vec<McpServer>, String> {
        let text =
            read_own_text(Path::new(file), LARGEST_FILE).map_err(|error| error.to_string())?;
        let value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        read_servers(&value).map_err(|fault| format!("it {fault}"))
    }

    /// Returns the variables that hold keys of servers. Shell commands get none of them.
    pub(crate) fn variables(&self) -> impl Iterator<Item = String> {
        let named = self.wanted.iter().flat_map(McpServer::variables);
        named.chain(user_servers::handed_variables(&self.places.variables))
    }

    /// Starts all servers side by side, once. A server that does not start is told to whoever
    /// watches, or refuses the prompt if the run needs it.
    pub(crate) async fn start(&self, output: &Output) -> Result<(), MissingServer> {
        self.running
            .get_or_try_init(|| self.start_all(output))
            .await
            .map(|_| ())
    }

    async fn start_all(&self, output: &Output) -> Result<Vec<RunningServer>, MissingServer> {
        let starting = self
            .wanted
            .iter()
            .map(|server| RunningServer::start(server, &self.places));
        let started = join_all(starting).await;
        let mut running: Vec<RunningServer> = Vec::new();
        for (server, result) in self.wanted.iter().zip(started) {
            match result {
                Ok(started) => {
                    for doubt in &started.doubts {
                        warn(&server.name, doubt, output).await;
                    }
                    running.push(started);
                }
                Err(failure) if server.is_required => {
                    return Err(MissingServer(server.name.clone(), failure.to_string()));
                }
                Err(failure) => {
                    let words = format!("it did not start, so its tools are missing: {failure}");
                    warn(&server.name, &words, output).await;
                }
            }
        }
        for server in &mut running {
            server
                .tools
                .retain(|tool| self.choice.offers(&server.server, tool));
        }
        Ok(running)
    }

    /// Returns the tools of the servers that run.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = ToolDeclaration> {
        let running = self.running.get().into_iter().flatten();
        running.flat_map(|server| server.tools.iter().map(|tool| tool.declaration.clone()))
    }

    /// Calls a tool of a server; `None` if no server has a tool of this name.
    pub(crate) async fn call(
        &self,
        call: &ToolCall,
        surroundings: &ToolSurroundings,
        aborted: &Aborted,
    ) -> Option<Result<ToolOutput, ToolError>> {
        let mut running = self.running.get().into_iter().flatten();
        let found = running.find_map(|server| Some((server, server.tool(&call.name)?)));
        let (server, tool) = found?;
        let answer = tokio::select! {
            biased;
            () = aborted.raised() => return Some(Err(ToolError::aborted())),
            answer = server.call(tool, call) => answer,
        };
        Some(match answer {
            Ok(result) => content::tool_output(result, surroundings),
            Err(failure) => Err(ToolError::new(failure.to_string())),
        })
    }
}

/// Tells that something is wrong with a server: as a record, and where nobody reads records on
/// stderr.
async fn warn(server: &str, words: &str, output: &Output) {
    if output.has_reader() {
        let place = format!("mcp:{server}");
        let error = format!("MCP server {server}: {words}");
        output
            .emit(&Event::ExtensionError {
                extension_path: &place,
                event: "start",
                error: &error,
            })
            .await;
    } else {
        notices::warn(&format!("MCP server {server}: {words}"));
    }
}
