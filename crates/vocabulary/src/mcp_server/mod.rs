//! The MCP servers that a definition gives to its sub-agents: how each is reached, and which of its
//! tools count. No value here is a key: a key is named, and looked up where the server is started.

mod check;
mod read;
mod tool_name;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

pub use check::variables_in;
pub use read::{ServerFault, read_servers};
pub use tool_name::{SERVER_PREFIX, ServerTool};

/// An MCP server of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name, which is part of the names of its tools.
    pub name: String,
    /// How it is reached.
    pub reach: ServerReach,
    /// True if the run ends when the server does not start.
    pub is_required: bool,
    /// The time that it may take to start.
    pub start_timeout: Duration,
    /// The time that one call may take.
    pub timeout: Duration,
    /// The only tools of it that count; all if there is no list.
    pub tools: Option<Vec<String>>,
    /// Tools of it that do not count.
    pub excluded_tools: Vec<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerReach {
    /// The user's `mcp.json` has it.
    Configured,
    /// It is a program that speaks over stdin and stdout.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables of its environment. A value may name variables of ours.
        environment: BTreeMap<String, String>,
        /// Its working directory, if it is not that of the run.
        directory: Option<String>,
    },
    /// It answers at an address.
    Address {
        /// The address.
        url: String,
        /// Headers of each request. A value may name variables of ours.
        headers: BTreeMap<String, String>,
    },
}

impl McpServer {
    /// The time that a server may take to start, unless its definition says so.
    pub const USUAL_START: Duration = Duration::from_secs(10);
    /// The time that a call may take, unless the definition says so.
    pub const USUAL_TIMEOUT: Duration = Duration::from_mins(5);
    /// The longest time that a definition may give.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_hours(1);
    /// The most servers of a definition.
    pub const MOST: usize = 16;

    /// Makes a server with the usual limits.
    pub fn new(name: impl Into<String>, reach: ServerReach) -> Self {
        Self {
            name: name.into(),
            reach,
            is_required: false,
            start_timeout: Self::USUAL_START,
            timeout: Self::USUAL_TIMEOUT,
            tools: None,
            excluded_tools: Vec::new(),
        }
    }

    /// Returns whether a tool of this server counts.
    pub fn offers(&self, tool: &str) -> bool {
        let is_listed = |list: &[String]| list.iter().any(|name| name == tool);
        self.tools.as_deref().is_none_or(is_listed) && !is_listed(&self.excluded_tools)
    }

    /// Returns the names of the variables that it needs, as they are written in its values.
    pub fn variables(&self) -> Vec<String> {
        let values = match &self.reach {
            ServerReach::Configured => return Vec::new(),
            ServerReach::Program { environment, .. } => environment,
            ServerReach::Address { headers, .. } => headers,
        };
        values
            .values()
            .flat_map(|value| variables_in(value))
            .collect()
    }

    /// Returns the sentence about what it does when it is used.
    pub fn consequence(&self) -> String {
        match self.reach {
            ServerReach::Configured => format!("It will use the server of your mcp.json: {self}"),
            ServerReach::Program { .. } => format!("It will run: {self}"),
            ServerReach::Address { .. } => {
                format!("It will send the calls of its tools to: {self}")
            }
        }
    }

    /// Writes servers as [`read_servers`] reads them.
    pub fn write_all(servers: &[Self]) -> Value {
        let written = servers
            .iter()
            .map(|server| (server.name.clone(), server.write()));
        Value::Object(written.collect())
    }

    fn write(&self) -> Value {
        let mut fields = Map::new();
        match &self.reach {
            ServerReach::Configured => {}
            ServerReach::Program {
                command,
                arguments,
                environment,
                directory,
            } => {
                fields.insert("command".to_owned(), json!(command));
                if !arguments.is_empty() {
                    fields.insert("args".to_owned(), json!(arguments));
                }
                if !environment.is_empty() {
                    fields.insert("env".to_owned(), json!(environment));
                }
                if let Some(directory) = directory {
                    fields.insert("cwd".to_owned(), json!(directory));
                }
            }
            ServerReach::Address { url, headers } => {
                fields.insert("url".to_owned(), json!(url));
                if !headers.is_empty() {
                    fields.insert("headers".to_owned(), json!(headers));
                }
            }
        }
        if self.is_required {
            fields.insert("required".to_owned(), json!(true));
        }
        for (name, time, usual) in [
            ("startTimeout", self.start_timeout, Self::USUAL_START),
            ("timeout", self.timeout, Self::USUAL_TIMEOUT),
        ] {
            if time != usual {
                fields.insert(name.to_owned(), json!(time.as_secs()));
            }
        }
        if let Some(tools) = &self.tools {
            fields.insert("tools".to_owned(), json!(tools));
        }
        if !self.excluded_tools.is_empty() {
            fields.insert("excludeTools".to_owned(), json!(self.excluded_tools));
        }
        Value::Object(fields)
    }
}

/// Shows everything about a server, on one line: the whole command or address, and the values of its
/// variables and headers, which name keys and hold none.
impl fmt::Display for McpServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, values) = match &self.reach {
            ServerReach::Configured => ("of mcp.json".to_owned(), None),
            ServerReach::Program {
                command,
                arguments,
                environment,
                directory,
            } => {
                let words = std::iter::once(command).chain(arguments);
                let mut how = words.map(String::as_str).collect::<Vec<_>>().join(" ");
                if let Some(directory) = directory {
                    how = format!("{how} in {directory}");
                }
                (how, Some(("env", environment)))
            }
            ServerReach::Address { url, headers } => (url.clone(), Some(("headers", headers))),
        };
        write!(formatter, "{}: {how}", self.name)?;
        if let Some((title, values)) = values.filter(|(_, values)| !values.is_empty()) {
            let pairs: Vec<String> = values
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            write!(formatter, " ({title} {})", pairs.join(" "))?;
        }
        if let Some(tools) = &self.tools {
            write!(formatter, " [only {}]", tools.join(", "))?;
        }
        if !self.excluded_tools.is_empty() {
            write!(formatter, " [without {}]", self.excluded_tools.join(", "))?;
        }
        if self.is_required {
            formatter.write_str(" [required]")?;
        }
        Ok(())
    }
}

/// The servers of a task, in the form in which a definition has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServers(pub Vec<McpServer>);

impl McpServers {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for McpServers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        McpServer::write_all(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for McpServers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let servers = read_servers(&value);
        servers.map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
