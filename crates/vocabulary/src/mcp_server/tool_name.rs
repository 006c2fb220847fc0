//! The names that the tools of MCP servers have for a model: `mcp__SERVER__TOOL`.

/// Every such name begins so.
pub const SERVER_PREFIX: &str = "mcp__";

const BETWEEN: &str = "__";

/// A name in a list of tools that means a tool of a server, or all of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerTool<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool; `None` for all tools of the server.
    pub tool: Option<&'a str>,
}

impl<'a> ServerTool<'a> {
    /// Reads `mcp__SERVER__TOOL`, `mcp__SERVER` or `mcp__SERVER__*`; `None` for any other name.
    pub fn read(name: &'a str) -> Option<Self> {
        let rest = name.strip_prefix(SERVER_PREFIX)?;
        let (server, tool) = match rest.split_once(BETWEEN) {
            Some((server, "*" | "")) => (server, None),
            Some((server, tool)) => (server, Some(tool)),
            None => (rest, None),
        };
        (!server.is_empty()).then_some(Self { server, tool })
    }

    /// Returns the name for a list of tools.
    pub fn name(self) -> String {
        match self.tool {
            Some(tool) => format!("{SERVER_PREFIX}{}{BETWEEN}{tool}", self.server),
            None => format!("{SERVER_PREFIX}{}", self.server),
        }
    }

    /// Returns whether this names a tool of a server, by itself or with all others.
    pub fn means(self, server: &str, tool: &str) -> bool {
        self.server == server && self.tool.is_none_or(|named| named == tool)
    }
}
