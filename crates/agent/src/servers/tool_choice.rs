//! Which tools of servers the agent has: those that its lists name, or all where there is no list.

use pi_subagents_vocabulary::{McpServer, ServerTool};

use super::offered_tool::OfferedTool;

/// The lists of the command line, as far as they are about servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolChoice {
    /// The only tools; all if there is no list.
    pub(crate) allowed: Option<Vec<String>>,
    pub(crate) excluded: Vec<String>,
    /// True if the agent has no tools at all.
    pub(crate) is_nothing: bool,
}

impl ToolChoice {
    /// Returns the servers of which a tool may be used. The others do not start.
    pub(super) fn servers(&self, wanted: Vec<McpServer>) -> Vec<McpServer> {
        let is_named = |name: &String, server: &McpServer| {
            ServerTool::read(name).is_some_and(|named| named.server == server.name)
        };
        let mut wanted = wanted;
        wanted.retain(|server| {
            let allows = |names: &Vec<String>| names.iter().any(|name| is_named(name, server));
            let leaves_out = self.excluded.iter().any(|name| {
                is_named(name, server)
                    && ServerTool::read(name).is_some_and(|named| named.tool.is_none())
            });
            !self.is_nothing && self.allowed.as_ref().is_none_or(allows) && !leaves_out
        });
        wanted
    }

    /// Returns whether the agent has a tool. Names of lists are those of the server or ours.
    pub(super) fn offers(&self, server: &McpServer, tool: &OfferedTool) -> bool {
        let is_named = |name: &String| {
            let means = |named: ServerTool<'_>| named.means(&server.name, &tool.name);
            *name == tool.declaration.name || ServerTool::read(name).is_some_and(means)
        };
        let is_allowed = |names: &Vec<String>| names.iter().any(is_named);
        self.allowed.as_ref().is_none_or(is_allowed)
            && !self.excluded.iter().any(is_named)
            && server.offers(&tool.name)
    }
}
