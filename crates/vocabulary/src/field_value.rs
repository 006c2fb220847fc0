//! The value of a field of a definition, and its place in a file.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::{Gate, McpServer, Secret};

/// The place of a field in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The key, as the dialect of the file spells it.
    pub key: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

/// The value of a field. It is printed for people: lists with commas, secrets masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A text, or the word for a choice.
    Text(&'a str),
    /// A text that is not to be shown.
    Secret(&'a Secret),
    /// Yes or no.
    Switch(bool),
    /// Names, which have no commas in them as a rule.
    Names(&'a [String]),
    /// Texts of any kind.
    Texts(&'a [String]),
    /// A time.
    Time(Duration),
    /// A whole number.
    Count(u32),
    /// Gates.
    Gates(&'a [Gate]),
    /// MCP servers.
    Servers(&'a [McpServer]),
    /// Any value.
    Json(&'a Value),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Secret(secret) => write!(formatter, "{secret}"),
            Self::Switch(is_on) => write!(formatter, "{is_on}"),
            Self::Names(list) | Self::Texts(list) => formatter.write_str(&list.join(", ")),
            Self::Time(time) => write!(formatter, "{}s", time.as_secs_f64()),
            Self::Count(count) => write!(formatter, "{count}"),
            Self::Gates(gates) => {
                let commands: Vec<&str> = gates.iter().map(|gate| gate.command.as_str()).collect();
                formatter.write_str(&commands.join("; "))
            }
            Self::Servers(servers) => {
                let shown: Vec<String> = servers.iter().map(McpServer::to_string).collect();
                formatter.write_str(&shown.join("; "))
            }
            Self::Json(value) => write!(formatter, "{value}"),
        }
    }
}
