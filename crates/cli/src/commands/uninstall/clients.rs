//! The MCP clients whose configuration names this program.

use std::path::Path;

use pi_subagents_files::read_own_text;
use pi_subagents_vocabulary::text::shell_quoted;

use super::traces::Trace;

/// A larger file is not looked at.
const LARGEST_FILE: u64 = 16 << 20;

/// A client, with its file in the home of the user.
struct Client {
    name: &'static str,
    file: &'static str,
    /// The command that removes an entry; without one, a person edits the file.
    removal: Option<&'static str>,
}

const CLIENTS: [Client; 6] = [
    Client {
        name: "Claude Code",
        file: ".claude.json",
        removal: Some("claude mcp remove --scope user pi-subagents"),
    },
    Client {
        name: "Codex",
        file: ".codex/config.toml",
        removal: Some("codex mcp remove pi-subagents"),
    },
    Client {
        name: "Gemini",
        file: ".gemini/settings.json",
        removal: Some("gemini mcp remove --scope user pi-subagents"),
    },
    Client {
        name: "opencode",
        file: ".config/opencode/opencode.json",
        removal: None,
    },
    Client {
        name: "Copilot",
        file: ".copilot/mcp-config.json",
        removal: None,
    },
    Client {
        name: "Cursor",
        file: ".cursor/mcp.json",
        removal: None,
    },
];

/// Finds the clients whose files name this program.
pub(super) fn entries(home: &Path) -> Vec<Trace> {
    let named = CLIENTS.iter().filter(|client| is_named(home, client));
    named.map(|client| entry(home, client)).collect()
}

fn is_named(home: &Path, client: &Client) -> bool {
    let text = read_own_text(&home.join(client.file), LARGEST_FILE);
    text.is_ok_and(|text| text.contains("pi-subagents"))
}

fn entry(home: &Path, client: &Client) -> Trace {
    let file = home.join(client.file).display().to_string();
    let by_hand = || format!("${{EDITOR:-vi}} {}", shell_quoted(&file));
    Trace {
        name: format!("An entry of {} in {file}", client.name),
        size: None,
        removal: client.removal.map_or_else(by_hand, str::to_owned),
    }
}
