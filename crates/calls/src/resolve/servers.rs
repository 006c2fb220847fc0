//! Checks whether the sandbox of a task lets its MCP servers be reached.

use std::path::Path;

use pi_subagents_agent::configured_address;
use pi_subagents_vocabulary::{McpServers, Refusal, Sandbox, ServerReach};

/// Refuses servers at an address that the sandbox closes. The child itself would ask them, so a list
/// of hosts for its tools does not open them.
pub(super) fn check_servers(
    servers: &McpServers,
    sandbox: &Sandbox,
    agent_dir: &Path,
) -> Result<(), Refusal> {
    if sandbox.is_off() || sandbox.network.is_full() {
        return Ok(());
    }
    for server in &servers.0 {
        let address = match &server.reach {
            ServerReach::Address { url, .. } => Some(url.clone()),
            ServerReach::Configured => configured_address(&server.name, agent_dir),
            ServerReach::Program { .. } => None,
        };
        let Some(closed) = address else {
            continue;
        };
        let name = &server.name;
        return Err(Refusal {
            message: format!(
                "The sandbox ({sandbox}) keeps its child from the MCP server {name} ({closed}). Give the agent \"network: full\", or leave the server out."
            ),
        });
    }
    Ok(())
}
