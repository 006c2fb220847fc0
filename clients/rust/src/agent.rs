//! Agents that are defined in code.

use pi_subagents_host_tools::HostToolServer;
use serde_json::{Map, Value, json};

/// An agent of this program. It needs no file of the user, and no other program sees it.
#[derive(Debug, Clone)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) body: String,
    fields: Map<String, Value>,
    /// Variables that the program needs for it.
    pub(crate) variables: Vec<(String, String)>,
}

impl Agent {
    /// Makes an agent with its system prompt. The name has letters, digits, `-` and `_`.
    pub fn new(name: impl Into<String>, system_prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            body: system_prompt.into(),
            fields: Map::new(),
            variables: Vec::new(),
        }
    }

    /// Sets its model, such as `anthropic/claude-sonnet-5`.
    pub fn model(self, model: impl Into<String>) -> Self {
        self.field("model", json!(model.into()))
    }

    /// Sets the only tools that it has.
    pub fn tools<S: Into<String>>(self, tools: impl IntoIterator<Item = S>) -> Self {
        let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
        if tools.is_empty() {
            return self.field("noTools", json!(true));
        }
        self.field("tools", json!(tools))
    }

    /// Gives it an MCP server, as an agent file has it: `{"command": …}` or `{"url": …}`.
    pub fn mcp_server(mut self, name: impl Into<String>, server: Value) -> Self {
        let servers = self.fields.entry("mcpServers").or_insert_with(|| json!({}));
        servers[name.into()] = server;
        self
    }

    /// Gives it functions of this program as tools, as long as the server is not dropped. A list of
    /// tools must name them, as in `mcp__shop__find_order`, or all of them, as in `mcp__shop`.
    pub fn host_tools(mut self, server: &HostToolServer) -> Self {
        let variable = (server.variable(), server.token().to_owned());
        self.variables.push(variable);
        self.mcp_server(server.name(), server.entry())
    }

    /// Sets any field of an agent file by its key.
    pub fn field(mut self, key: impl Into<String>, value: Value) -> Self {
        self.fields.insert(key.into(), value);
        self
    }

    /// Returns its file. JSON is YAML, so no value needs an escape of its own.
    pub(crate) fn file(&self) -> String {
        let mut lines = vec!["---".to_owned(), format!("name: {}", json!(self.name))];
        let fields = self.fields.iter();
        lines.extend(fields.map(|(key, value)| format!("{key}: {value}")));
        lines.push("---".to_owned());
        lines.push(self.body.clone());
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_a_file_whose_values_are_json() {
        let agent = Agent::new("scout", "Look: only look.")
            .model("a/b")
            .tools(["read", "grep"])
            .mcp_server("docs", json!({"url": "https://docs.example/mcp"}));
        assert_eq!(
            agent.file(),
            "---\nname: \"scout\"\nmodel: \"a/b\"\ntools: [\"read\",\"grep\"]\nmcpServers: {\"docs\":{\"url\":\"https://docs.example/mcp\"}}\n---\nLook: only look.\n"
        );
    }
}
