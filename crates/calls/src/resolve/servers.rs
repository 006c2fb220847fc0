//! The MCP servers of a task, and whether they can be reached from where it is done.

use std::path::Path;

use pi_subagents_agent::configured_address;
use pi_subagents_vocabulary::{McpServer, McpServers, Refusal, Runner, Sandbox, ServerReach};

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

/// A task of a program that may give it functions of its own.
#[derive(Clone, Copy)]
pub(super) struct HostedTask<'a> {
    pub(super) host_servers: &'a [McpServer],
    pub(super) of_definition: Option<&'a McpServers>,
    pub(super) runner: Runner,
    /// True if it is done on this machine.
    pub(super) is_here: bool,
}

/// Returns the servers of a task: those of its definition, and those of the program that calls.
/// Refuses a task that cannot reach the latter.
pub(super) fn with_host_servers(task: HostedTask<'_>) -> Result<McpServers, Refusal> {
    let mut servers = task.of_definition.cloned().unwrap_or_default();
    if task.host_servers.is_empty() {
        return Ok(servers);
    }
    let refuse = |why: String| {
        Err(Refusal {
            message: format!("The tools of the calling program {why}"),
        })
    };
    if !task.is_here {
        return refuse("are on this machine, and the task is for a fleet.".to_owned());
    }
    if task.runner == Runner::Pi {
        return refuse("cannot be given to pi. Use the embedded agent.".to_owned());
    }
    let is_taken = |host: &&McpServer| servers.0.iter().any(|own| own.name == host.name);
    if let Some(taken) = task.host_servers.iter().find(is_taken) {
        let name = &taken.name;
        return refuse(format!(
            "are the MCP server {name}, and the agent of the task has one of this name too."
        ));
    }
    servers.0.extend(task.host_servers.iter().cloned());
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn server(name: &str) -> McpServer {
        let url = "http://127.0.0.1:1/mcp".to_owned();
        let headers = std::collections::BTreeMap::new();
        McpServer::new(name, ServerReach::Address { url, headers })
    }

    fn given(host: &[McpServer], own: &McpServers, runner: Runner, is_here: bool) -> String {
        let task = HostedTask {
            host_servers: host,
            of_definition: Some(own),
            runner,
            is_here,
        };
        match with_host_servers(task) {
            Ok(servers) => servers.0.iter().map(|one| one.name.clone() + " ").collect(),
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn functions_of_a_program_go_to_tasks_that_reach_them() {
        let (shop, docs) = ([server("shop")], McpServers(vec![server("docs")]));
        let twice = McpServers(vec![server("shop")]);
        let (embedded, pi) = (Runner::Embedded, Runner::Pi);
        assert_eq!(given(&[], &docs, pi, false), "docs ");
        assert_eq!(given(&shop, &docs, embedded, true), "docs shop ");
        let refusals = [
            given(&shop, &docs, pi, true),
            given(&shop, &docs, embedded, false),
            given(&shop, &twice, embedded, true),
        ];
        insta::assert_snapshot!(refusals.join("\n"), @r"
        The tools of the calling program cannot be given to pi. Use the embedded agent.
        The tools of the calling program are on this machine, and the task is for a fleet.
        The tools of the calling program are the MCP server shop, and the agent of the task has one of this name too.
        ");
    }
}
