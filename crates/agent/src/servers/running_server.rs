//! A server that runs: the connection to it, its tools, and calls of them.

use std::borrow::Cow;
use std::collections::HashMap;

use http::{HeaderName, HeaderValue};
use pi_subagents_vocabulary::text::cut_characters;
use pi_subagents_vocabulary::{McpServer, ServerReach};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    PaginatedRequestParams, Tool,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, serve_client};
use serde_json::Value;
use tokio::time::timeout;

use super::ServerPlaces;
use super::address::MeteredClient;
use super::failure::{CallFailure, StartFailure};
use super::keys::FilledValues;
use super::meter::{MEGABYTES, Meter, MeteredReader};
use super::offered_tool::{OfferedTool, OfferedTools};
use super::program::{ProgramPipes, RunningProgram, ServerCommand};
use super::user_servers;
use crate::message::ToolCall;
use crate::providers::Connections;

/// The most parts in which a server may list its tools.
const MOST_PAGES: usize = 20;
/// What is said about a server that is gone.
const ENDED: &str = "it has ended";
/// The longest words of a server in an error.
const LONGEST_WORDS: usize = 2000;
/// The longest message of a program.
const LONGEST_LINE: usize = 16 << 20;

/// A server that has started.
pub(super) struct RunningServer {
    pub(super) server: McpServer,
    pub(super) tools: Vec<OfferedTool>,
    /// Sentences about tools that are not used.
    pub(super) doubts: Vec<String>,
    service: RunningService<RoleClient, ClientConfig>,
    meter: Meter,
    keys: FilledValues,
    program: Option<RunningProgram>,
}

/// A server on its way: what is there already if it does not come up.
#[derive(Default)]
struct Opening {
    meter: Meter,
    keys: FilledValues,
    program: Option<RunningProgram>,
}

impl RunningServer {
    /// Starts a server and asks it for its tools.
    pub(super) async fn start(
        server: &McpServer,
        places: &ServerPlaces,
    ) -> Result<Self, StartFailure> {
        let mut opening = Opening::default();
        let started = timeout(server.start_timeout, opening.connect(server, places)).await;
        match started {
            Ok(Ok((service, listed))) => {
                let OfferedTools { tools, doubts } = OfferedTools::of(&server.name, listed);
                Ok(Self {
                    server: server.clone(),
                    tools,
                    doubts,
                    service,
                    meter: opening.meter,
                    keys: opening.keys,
                    program: opening.program,
                })
            }
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(StartFailure::TooSlow {
                time: server.start_timeout,
                last_words: opening.last_words().await,
            }),
        }
    }

    /// Returns the tool that the model means.
    pub(super) fn tool(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.declaration.name == name)
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: &OfferedTool,
        call: &ToolCall,
    ) -> Result<CallToolResult, CallFailure> {
        let server = || self.server.name.clone();
        let mut request = CallToolRequestParams::new(Cow::Owned(tool.name.clone()));
        request.arguments = match &call.arguments {
            Value::Object(arguments) => Some(arguments.clone()),
            Value::Null => None,
            _ => return Err(CallFailure::NoObject { server: server() }),
        };
        self.meter.refill();
        let answer = timeout(self.server.timeout, self.service.call_tool(request)).await;
        match answer {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) | Err(_) if self.meter.is_spent() => Err(CallFailure::TooMuch {
                server: server(),
                megabytes: MEGABYTES,
            }),
            Ok(Err(error)) => Err(CallFailure::Failed {
                server: server(),
                why: self.keys.masked(&words(&error)),
                last_words: self.last_words(&error).await,
            }),
            Err(_) => Err(CallFailure::TooSlow {
                server: server(),
                time: self.server.timeout,
            }),
        }
    }

    /// Returns the last words of a program, if it is gone.
    async fn last_words(&self, error: &ServiceError) -> String {
        match (error, &self.program) {
            (ServiceError::McpError(_), _) | (_, None) => String::new(),
            (_, Some(program)) => self.keys.masked(&program.last_words().await),
        }
    }
}

/// Returns the sentence of an error. The protocol's own words need no introduction.
fn words(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => cut_characters(&error.message, LONGEST_WORDS),
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => "it has ended".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the sentence of an error before a server was ready.
fn opening_words(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => ENDED.to_owned(),
        ClientInitializeError::JsonRpcError(error) => cut_characters(&error.message, LONGEST_WORDS),
        ClientInitializeError::TransportError { error, .. } => {
            let is_pipe = error.error.is::<std::io::Error>();
            let words = || cut_characters(&error.error.to_string(), LONGEST_WORDS);
            if is_pipe { ENDED.to_owned() } else { words() }
        }
        other => cut_characters(&other.to_string(), LONGEST_WORDS),
    }
}

impl Opening {
    async fn last_words(&self) -> String {
        match &self.program {
            Some(program) => self.keys.masked(&program.last_words().await),
            None => String::new(),
        }
    }

    async fn failed(&self, why: &str) -> StartFailure {
        if self.meter.is_spent() {
            return StartFailure::Protocol {
                why: format!("it sent more than {MEGABYTES} MB before it was ready"),
                last_words: String::new(),
            };
        }
        StartFailure::Protocol {
            why: self.keys.masked(why),
            last_words: self.last_words().await,
        }
    }

    async fn connect(
        &mut self,
        server: &McpServer,
        places: &ServerPlaces,
    ) -> Result<(RunningService<RoleClient, ClientConfig>, Vec<Tool>), StartFailure> {
        let reach = match &server.reach {
            ServerReach::Configured => user_servers::reach_of(&server.name, places)?,
            written => written.clone(),
        };
        let service = match &reach {
            ServerReach::Configured => {
                return Err(StartFailure::NotConfigured(
                    "it is not configured".to_owned(),
                ));
            }
            ServerReach::Program {
                command,
                arguments,
                environment,
                directory,
            } => {
                self.keys = FilledValues::of(environment, places).await?;
                let command = ServerCommand {
                    command,
                    arguments,
                    directory: directory.as_deref(),
                    environment: &self.keys,
                };
                let (program, pipes) = RunningProgram::start(&command, places)?;
                self.program = Some(program);
                self.speak(pipes).await?
            }
            ServerReach::Address { url, headers } => {
                self.keys = FilledValues::of(headers, places).await?;
                self.ask(url, places).await?
            }
        };
        let tools = self.list(&service).await?;
        Ok((service, tools))
    }

    async fn speak(
        &self,
        pipes: ProgramPipes,
    ) -> Result<RunningService<RoleClient, ClientConfig>, StartFailure> {
        let reader = MeteredReader {
            inner: pipes.stdout,
            meter: self.meter.clone(),
        };
        let transport =
            AsyncRwTransport::new(reader, pipes.stdin).with_max_line_length(LONGEST_LINE);
        match serve_client(ourselves(), transport).await {
            Ok(served) => Ok(served),
            Err(error) => Err(self.failed(&opening_words(&error)).await),
        }
    }

    async fn ask(
        &self,
        url: &str,
        places: &ServerPlaces,
    ) -> Result<RunningService<RoleClient, ClientConfig>, StartFailure> {
        let connections = Connections::open(url, &places.variables)
            .map_err(|error| StartFailure::Address(error.to_string()))?;
        let client = MeteredClient {
            client: connections.client,
            meter: self.meter.clone(),
        };
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.custom_headers = headers(&self.keys)?;
        let transport = StreamableHttpClientTransport::with_client(client, config);
        match serve_client(ourselves(), transport).await {
            Ok(served) => Ok(served),
            Err(error) => Err(self.failed(&opening_words(&error)).await),
        }
    }

    async fn list(
        &self,
        service: &RunningService<RoleClient, ClientConfig>,
    ) -> Result<Vec<Tool>, StartFailure> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            self.meter.refill();
            let request = PaginatedRequestParams::default().with_cursor(cursor);
            let page = match service.list_tools(Some(request)).await {
                Ok(page) => page,
                Err(error) => return Err(self.failed(&words(&error)).await),
            };
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(StartFailure::EndlessList(MOST_PAGES))
    }
}

/// Returns what a server learns about us. It may ask us for nothing.
fn ourselves() -> ClientConfig {
    let name = Implementation::new("pi-subagents", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), name)
}

fn headers(filled: &FilledValues) -> Result<HashMap<HeaderName, HeaderValue>, StartFailure> {
    let pairs = filled.values.iter().map(|(name, value)| {
        let odd = |_| StartFailure::Address(format!("the header {name} cannot be sent"));
        let mut header = HeaderValue::from_str(value).map_err(|error| odd(error.to_string()))?;
        header.set_sensitive(true);
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|error| odd(error.to_string()))?;
        Ok((name, header))
    });
    pairs.collect()
}
