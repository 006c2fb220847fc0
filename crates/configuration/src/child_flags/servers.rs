//! Decides which MCP servers a child has, and which of their tools.

use pi_subagents_vocabulary::{Definition, McpServer, McpServers, ServerTool, ToolPolicy};

/// Returns the servers of a definition whose tools its child may use. A server that no allow list
/// names does not start.
pub(super) fn servers_of(definition: &Definition, policy: &ToolPolicy) -> McpServers {
    let denied = definition.exclude_tools.as_deref().unwrap_or_default();
    let servers = definition.mcp_servers.iter().cloned();
    let servers = servers.map(|server| without(server, denied));
    McpServers(servers.filter(|server| may_use(policy, server)).collect())
}

/// Takes single tools of a server away.
fn without(mut server: McpServer, denied: &[String]) -> McpServer {
    for name in denied {
        if let Some(ServerTool {
            server: of,
            tool: Some(tool),
        }) = ServerTool::read(name)
            && of == server.name
        {
            server.excluded_tools.push(tool.to_owned());
        }
    }
    server
}

fn may_use(policy: &ToolPolicy, server: &McpServer) -> bool {
    let names_it =
        |name: &String| ServerTool::read(name).is_some_and(|named| named.server == server.name);
    let names_all_of_it = |name: &String| {
        names_it(name) && ServerTool::read(name).is_some_and(|named| named.tool.is_none())
    };
    match policy {
        ToolPolicy::Inherit => true,
        ToolPolicy::Nothing => false,
        ToolPolicy::Only(names) => names.iter().any(names_it),
        ToolPolicy::AllExcept(names) => !names.iter().any(names_all_of_it),
    }
}
