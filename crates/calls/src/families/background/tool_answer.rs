//! `background_agent`: the answer when the run has a process of its own.

use serde_json::{Value, json};

use super::text;
use crate::acts::{Spawned, spawn};
use crate::caller::Caller;
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::entries::begin_of;
use pi_subagents_vocabulary::Door;

/// Starts a background run; inside pi its session remembers it.
pub async fn background_agent(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let mut spawned = spawn(arguments, caller, &service.owner.known_children).await?;
    if let Some(registry) = &service.background {
        spawned.counts = registry.launched(&spawned.row);
    }
    Ok(to_tool_answer(&spawned, caller.door))
}

fn to_tool_answer(spawned: &Spawned, door: Door) -> ToolAnswer {
    let mut lines = vec![text::started(&spawned.row, spawned.counts, door)];
    lines.extend(
        spawned
            .warnings
            .iter()
            .map(|warning| format!("! {warning}")),
    );
    let mut details = begin_of(&spawned.row.clone().without_owner());
    details["counts"] = spawned.counts.background_json();
    details["warnings"] = json!(spawned.warnings);
    ToolAnswer::new(lines.join("\n"), details)
}
