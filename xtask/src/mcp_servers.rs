//! Two MCP servers of the project that made the protocol, installed by name into the build directory:
//! sub-agents of the tests have them.

use crate::Outcome;
use crate::machine::target;
use crate::npm;

/// The servers. Their versions are exact, so that a test fails for a change of ours.
const SERVERS: [&str; 2] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];

/// Installs the servers unless they are there already.
pub(crate) fn install() -> Outcome<()> {
    let directory = target()?.join("mcp-servers");
    let programs = directory.join("node_modules/.bin");
    let names = ["mcp-server-everything", "mcp-server-filesystem"];
    if names.iter().all(|name| programs.join(name).exists()) {
        return Ok(());
    }
    npm::install(&directory, &SERVERS)
}
