//! The programs that can start our MCP server, the places of their files, and the entry that each of
//! them needs. The entries are those that the clients' own commands write, where they have such a command.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::OtherAgent;
use serde_json::{Value, json};

use super::insertion::{Insertion, InsertionRefusal};
use super::json_insertion::{self, NewMember};
use super::toml_insertion::{self, NewTable};

/// The name of our server in every client.
pub(in crate::commands) const SERVER: &str = "pi-subagents";

/// A program that starts MCP servers for its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum McpClient {
    ClaudeCode,
    Codex,
    Gemini,
    Opencode,
    Copilot,
}

impl McpClient {
    pub(in crate::commands) const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Copilot,
    ];

    pub(in crate::commands) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Copilot => "Copilot CLI",
        }
    }

    /// Returns the agent of others that it is.
    pub(super) fn other_agent(self) -> OtherAgent {
        match self {
            Self::ClaudeCode => OtherAgent::Claude,
            Self::Codex => OtherAgent::Codex,
            Self::Gemini => OtherAgent::Gemini,
            Self::Opencode => OtherAgent::Opencode,
            Self::Copilot => OtherAgent::Copilot,
        }
    }

    /// Returns the name of its program on the search path.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
        }
    }

    /// Returns the variable that names another directory for its files, if it has one.
    pub(super) fn variable(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("CLAUDE_CONFIG_DIR"),
            Self::Codex => Some("CODEX_HOME"),
            Self::Opencode => Some("XDG_CONFIG_HOME"),
            Self::Gemini | Self::Copilot => None,
        }
    }

    /// Returns its directory. `named` is the value of its variable.
    pub(super) fn directory(self, home: &Path, named: Option<&Path>) -> PathBuf {
        match (self, named) {
            (Self::Opencode, Some(named)) => named.join("opencode"),
            (Self::Opencode, None) => home.join(".config/opencode"),
            (_, Some(named)) => named.to_owned(),
            (Self::ClaudeCode, None) => home.join(".claude"),
            (Self::Codex, None) => home.join(".codex"),
            (Self::Gemini, None) => home.join(".gemini"),
            (Self::Copilot, None) => home.join(".copilot"),
        }
    }

    /// Returns the files in which it looks for servers. The first is the one that is made if there is
    /// none.
    pub(super) fn files(self, home: &Path, named: Option<&Path>) -> Vec<PathBuf> {
        let directory = self.directory(home, named);
        match self {
            // Without the variable the file stands beside its directory.
            Self::ClaudeCode => vec![named.unwrap_or(home).join(".claude.json")],
            Self::Codex => vec![directory.join("config.toml")],
            Self::Gemini => vec![directory.join("settings.json")],
            Self::Opencode => ["opencode.json", "opencode.jsonc"]
                .map(|name| directory.join(name))
                .into(),
            Self::Copilot => vec![directory.join("mcp-config.json")],
        }
    }

    /// Returns the command of the client that takes the entry away, if it has one.
    pub(in crate::commands) fn removal(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude mcp remove --scope user pi-subagents"),
            Self::Codex => Some("codex mcp remove pi-subagents"),
            Self::Gemini => Some("gemini mcp remove --scope user pi-subagents"),
            Self::Copilot => Some("copilot mcp remove pi-subagents"),
            Self::Opencode => None,
        }
    }

    /// Returns what a person should know after the entry was added.
    pub(super) fn advice(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some(
                "Codex asks before it calls a tool that may change something. To let it call without asking, add default_tools_approval_mode = \"approve\" to the entry.",
            ),
            Self::ClaudeCode | Self::Gemini | Self::Opencode | Self::Copilot => None,
        }
    }

    /// Adds our server to the text of its file, or makes the text if there is no file.
    pub(super) fn with_server(
        self,
        file: Option<&[u8]>,
        command: &str,
    ) -> Result<Insertion, InsertionRefusal> {
        let text = file.map(std::str::from_utf8).transpose();
        let text = text.map_err(|_| InsertionRefusal::NotText)?;
        if self == Self::Codex {
            return toml_insertion::append(text.unwrap_or_default(), &table(command));
        }
        let member = self.member(command);
        let Some(text) = text else {
            let text = json_insertion::new_file(&member);
            let added = text.trim_end().to_owned();
            return Ok(Insertion::Made { text, added });
        };
        json_insertion::insert(text, &member)
    }

    /// Returns the lines that a person adds where we do not.
    pub(super) fn by_hand(self, command: &str) -> String {
        match self.with_server(None, command) {
            Ok(Insertion::Made { text, .. }) => text,
            Ok(Insertion::Present) | Err(_) => String::new(),
        }
    }

    fn member(self, command: &str) -> NewMember<'static> {
        NewMember {
            above: if self == Self::Opencode {
                &["mcp"]
            } else {
                &["mcpServers"]
            },
            key: SERVER,
            value: self.entry(command),
        }
    }

    fn entry(self, command: &str) -> Value {
        match self {
            Self::ClaudeCode => {
                json!({"type": "stdio", "command": command, "args": ["mcp"], "env": {}})
            }
            Self::Opencode => {
                json!({"type": "local", "command": [command, "mcp"], "enabled": true})
            }
            Self::Copilot => {
                json!({"type": "local", "command": command, "args": ["mcp"], "tools": ["*"]})
            }
            Self::Codex | Self::Gemini => json!({"command": command, "args": ["mcp"]}),
        }
    }
}

fn table(command: &str) -> NewTable<'static> {
    NewTable {
        outer: "mcp_servers",
        name: SERVER,
        // A string of JSON is a string of TOML.
        lines: vec![
            format!("command = {}", Value::from(command)),
            "args = [\"mcp\"]".to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_gets_the_entry_that_it_writes_itself() {
        let texts = McpClient::ALL.map(|client| {
            let text = client.by_hand("pi-subagents");
            format!("{}\n{text}", client.title())
        });
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn files_are_looked_for_where_the_clients_keep_them() {
        let (home, named) = (Path::new("/h"), Some(Path::new("/n")));
        let first = |client: McpClient, named: Option<&Path>| client.files(home, named).remove(0);
        let usual = McpClient::ALL.map(|client| first(client, None));
        assert_eq!(
            usual.map(|file| file.display().to_string()),
            [
                "/h/.claude.json",
                "/h/.codex/config.toml",
                "/h/.gemini/settings.json",
                "/h/.config/opencode/opencode.json",
                "/h/.copilot/mcp-config.json"
            ]
        );
        assert_eq!(
            first(McpClient::ClaudeCode, named),
            Path::new("/n/.claude.json")
        );
        assert_eq!(first(McpClient::Codex, named), Path::new("/n/config.toml"));
        assert_eq!(
            first(McpClient::Opencode, named),
            Path::new("/n/opencode/opencode.json")
        );
    }
}
