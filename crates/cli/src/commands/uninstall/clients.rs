//! The MCP clients whose configuration names this program.

use std::path::Path;

use pi_subagents_files::read_own_text;
use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::text::shell_quoted;

use super::traces::Trace;
use crate::commands::init::{InitChanges, McpClient, SERVER, client_files};

/// A larger file is not looked at.
const LARGEST_FILE: u64 = 16 << 20;

/// The clients that `init` does not know, with their files in the home of the user.
const OTHERS: [(&str, &str); 2] = [
    ("Cursor", ".cursor/mcp.json"),
    ("Zed", ".config/zed/settings.json"),
];

/// Finds the clients whose files name this program, except for files that `init` takes back.
pub(super) fn entries(places: &Places, changes: &InitChanges) -> Vec<Trace> {
    let known = McpClient::ALL.into_iter().flat_map(|client| {
        let files = client_files(client, places);
        files
            .into_iter()
            .map(move |file| (client.title(), file, client.removal()))
    });
    let others = OTHERS.map(|(name, file)| (name, places.home.join(file), None));
    known
        .chain(others)
        .filter(|(_, file, _)| is_named(file) && !changes.undo_removes(file, SERVER))
        .map(|(name, file, removal)| entry(name, &file, removal))
        .collect()
}

fn is_named(file: &Path) -> bool {
    let text = read_own_text(file, LARGEST_FILE);
    text.is_ok_and(|text| text.contains(SERVER))
}

fn entry(name: &str, file: &Path, removal: Option<&str>) -> Trace {
    let file = file.display().to_string();
    let by_hand = || format!("${{EDITOR:-vi}} {}", shell_quoted(&file));
    Trace {
        name: format!("An entry of {name} in {file}"),
        size: None,
        removal: removal.map_or_else(by_hand, str::to_owned),
    }
}
