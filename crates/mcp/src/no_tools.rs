//! A server without tools, for sub-agents: they have no sub-agents of their own.

use std::path::PathBuf;
use std::pin::Pin;

use pi_subagents_calls::Effect;
use pi_subagents_ground::places::Places;
use rmcp::model::{CallToolResult, Tool};

use crate::protocol_lists::refused;
use crate::tools::{Call, Question, Tools};

/// The reason why a sub-agent gets no tools.
pub(super) const REASON: &str = "\
This server was started by a sub-agent (PI_SUBAGENTS_CHILD is 1). Sub-agents have no sub-agents, so it offers no tools.";

/// Tells whether we were started by a sub-agent: a pi starts the servers of its user in every
/// child, and hands them its whole environment.
pub(super) fn is_for_sub_agent(places: &Places) -> bool {
    places
        .variable("PI_SUBAGENTS_CHILD")
        .is_some_and(|value| value == "1")
}

/// The tools for a sub-agent: it has none, and every call is refused with the reason.
pub(super) struct NoTools;

impl Tools for NoTools {
    fn list(&self) -> Vec<(Tool, Effect)> {
        Vec::new()
    }

    fn why_not_listed(&self) -> Option<String> {
        Some(REASON.to_owned())
    }

    fn question<'a>(
        &'a self,
        _tool: &'a str,
        _roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Option<Question>> + Send + 'a>> {
        Box::pin(async { None })
    }

    fn decided(&self, _question: &Question, _option: Option<&str>) {}

    fn call(&self, _call: Call) -> Pin<Box<dyn Future<Output = CallToolResult> + Send + '_>> {
        Box::pin(async { refused(REASON.to_owned(), None) })
    }
}
