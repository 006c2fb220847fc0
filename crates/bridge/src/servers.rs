//! The MCP servers of a task, as the Agent Client Protocol names them. The agent starts them.

use std::collections::BTreeMap;
use std::path::Path;

use pi_subagents_files::read_own_text;
use pi_subagents_vocabulary::{McpServer, ServerReach, read_servers};
use serde_json::{Value, json};

/// A longer file is refused.
const LARGEST_FILE: u64 = 4 << 20;

/// Begins the name of a key in pi's file of keys.
const OF_AUTH_FILE: &str = "auth.json:";

/// Returns why an agent of others cannot be given a server as its definition wants it.
pub fn obstacle_of(server: &McpServer) -> Option<&'static str> {
    if server.tools.is_some() || !server.excluded_tools.is_empty() {
        return Some("it would have all of its tools, and a list names some");
    }
    if server.is_required {
        return Some("nobody sees whether it starts, and it is required");
    }
    match &server.reach {
        ServerReach::Configured => Some("it is in the mcp.json of pi"),
        ServerReach::Program {
            directory: Some(_), ..
        } => Some("it would not start in its cwd"),
        ServerReach::Program { .. } | ServerReach::Address { .. } => server
            .variables()
            .iter()
            .any(|name| name.starts_with(OF_AUTH_FILE))
            .then_some("its key is in auth.json, which is not read for an agent of others"),
    }
}

/// Reads the file with the servers, and puts in the values of variables.
pub(crate) fn servers_of(
    file: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<Value>, String> {
    let text = read_own_text(file, LARGEST_FILE)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let servers = read_servers(&value).map_err(|error| error.to_string())?;
    let servers = servers.iter();
    servers.map(|server| server_of(server, variables)).collect()
}

fn server_of(server: &McpServer, variables: &BTreeMap<String, String>) -> Result<Value, String> {
    let refuse = |why: &str| format!("the MCP server {} cannot be had: {why}", server.name);
    if let Some(why) = obstacle_of(server) {
        return Err(refuse(why));
    }
    let pairs = |values: &BTreeMap<String, String>| -> Result<Vec<Value>, String> {
        let pairs = values.iter().map(|(name, value)| {
            let value = filled(value, variables).map_err(|why| refuse(&why))?;
            Ok(json!({"name": name, "value": value}))
        });
        pairs.collect()
    };
    match &server.reach {
        ServerReach::Configured => Err(refuse("it is in the mcp.json of pi")),
        ServerReach::Program {
            command,
            arguments,
            environment,
            directory: _,
        } => Ok(json!({
            "name": server.name, "command": command, "args": arguments, "env": pairs(environment)?,
        })),
        ServerReach::Address { url, headers } => Ok(json!({
            "type": "http", "name": server.name, "url": url, "headers": pairs(headers)?,
        })),
    }
}

/// Puts variables into a value: `${NAME}`, or `${NAME:-usual}`.
fn filled(value: &str, variables: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((key, after)) = after.split_once('}') else {
            break;
        };
        let (name, usual) = match key.split_once(":-") {
            Some((name, usual)) => (name, Some(usual)),
            None => (key, None),
        };
        let found = variables.get(name).map(String::as_str).or(usual);
        let found = found.ok_or_else(|| format!("${{{key}}} is not set"))?;
        filled.extend([before, found]);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn given(servers: &Value) -> Result<Vec<Value>, String> {
        let variables = BTreeMap::from([("TOKEN".to_owned(), "t".to_owned())]);
        let servers = read_servers(servers).unwrap();
        let servers = servers.iter();
        servers
            .map(|server| server_of(server, &variables))
            .collect()
    }

    #[test]
    fn servers_are_written_in_the_words_of_the_protocol() {
        let servers = json!({
            "docs": {"command": "docs-server", "args": ["-x"], "env": {"DOCS_TOKEN": "${TOKEN}"}},
            "web": {"url": "https://example.com/mcp", "headers": {"X-Place": "${PLACE:-here}"}},
        });
        let expected = vec![
            json!({
                "name": "docs", "command": "docs-server", "args": ["-x"],
                "env": [{"name": "DOCS_TOKEN", "value": "t"}],
            }),
            json!({
                "type": "http", "name": "web", "url": "https://example.com/mcp",
                "headers": [{"name": "X-Place", "value": "here"}],
            }),
        ];
        assert_eq!(given(&servers), Ok(expected));
    }

    #[test]
    fn what_an_agent_cannot_keep_is_refused() {
        let servers = [
            json!({"command": "x", "tools": ["a"]}),
            json!({"command": "x", "required": true}),
            json!({"command": "x", "cwd": "/w"}),
            json!({"command": "x", "env": {"API_KEY": "${auth.json:docs}"}}),
            json!({"command": "x", "env": {"API_KEY": "${MISSING}"}}),
            json!({}),
        ];
        let errors = servers.map(|server| given(&json!({"docs": server})).unwrap_err());
        insta::assert_snapshot!(errors.join("\n"));
    }
}
