//! Checks whether the sandbox of a task lets its MCP servers be reached.

use pi_subagents_vocabulary::{McpServers, Refusal, Sandbox, ServerReach};

/// Refuses servers at an address that the sandbox closes. The child itself would ask them, so a list
/// of hosts for its tools does not open them.
pub(super) fn check_servers(servers: &McpServers, sandbox: &Sandbox) -> Result<(), Refusal> {
    if sandbox.is_off() || sandbox.network.is_full() {
        return Ok(());
    }
    for server in &servers.0 {
        let closed = match &server.reach {
            ServerReach::Address { url, .. } => url.as_str(),
            ServerReach::Configured => "of the user's mcp.json",
            ServerReach::Program { .. } => continue,
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
