//! The tools of the subagent family, as a caller's model sees them.

use super::schema::subagent_parameters;
use crate::tool::{Effect, Offered, Tool};

pub const SUBAGENT: &str = "subagent";

/// Returns the tools of the family.
pub fn tools() -> Vec<Tool> {
    vec![Tool {
        name: SUBAGENT,
        label: "Sub-agent",
        effect: Effect::Runs,
        offered: Offered::Always,
        uses_definitions: true,
        needs_models: true,
        snippet: "Hand a task to a named sub-agent, or several tasks to several at once",
        guidelines: &[
            "Use subagent when a named preset fits the work, or with preset \"default\" for a plain sub-agent; write the task so that it can be understood without this conversation.",
            "Pass the returned sessionId, with the same preset and cwd, to continue a sub-agent where it stopped; leave it out to begin afresh.",
            "Put tasks that need nothing from each other into subagent.tasks; for steps that build on each other, call subagent once per step.",
        ],
        description: "Run a task in a named sub-agent, a separate process with its own context, tools and model, and wait for its result. Give preset (\"default\" is a plain sub-agent) and task, or tasks for several at once. Returns the status, the session id with which the sub-agent can be continued, and what it found.",
        parameters: subagent_parameters(),
    }]
}
