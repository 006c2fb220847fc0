//! `background_agent`: from the call to the moment when the run has a process of its own.

use pi_subagents_engine::KnownChildren;
use pi_subagents_sessions::{RecordedRun, RunDir};
use serde_json::{Value, json};

use super::text;
use crate::calls::caller::Caller;
use crate::calls::detached::{Order, start};
use crate::calls::next_steps::Door;
use crate::calls::service::{CallService, ToolAnswer};
use crate::error::CommandError;
use crate::runs::counts::Counts;
use crate::runs::row::Row;

/// A background run that has begun.
pub(crate) struct Spawned {
    pub(crate) row: Row,
    pub(crate) counts: Counts,
    pub(crate) warnings: Vec<String>,
}

/// Starts a background run; inside pi its session remembers it.
pub(crate) async fn background_agent(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let mut spawned = spawn(arguments, caller, &service.owner.known_children).await?;
    if let Some(registry) = &service.background {
        spawned.counts = registry.launched(&spawned.row);
    }
    Ok(spawned.to_tool_answer(caller.door))
}

/// Starts a background run.
pub(crate) async fn spawn(
    arguments: &Value,
    caller: &Caller,
    known_children: &KnownChildren,
) -> Result<Spawned, CommandError> {
    let order = Order::new(arguments, caller);
    let taken = start(&order, &caller.places, known_children).await?;
    if let Some(why) = taken.refusal {
        return Err(CommandError::failed(why));
    }
    let directory = RunDir::new(taken.directory);
    let run = RecordedRun::read(&directory)
        .map_err(|error| CommandError::failed(error.to_string()).because(error.reason()))?;
    Ok(Spawned {
        row: Row::of(&run),
        counts: taken.counts,
        warnings: taken.warnings,
    })
}

impl Spawned {
    /// What `spawn --json` prints.
    pub(crate) fn json(&self) -> Value {
        json!({
            "runId": self.row.run_id,
            "sessionId": self.row.session_id,
            "status": self.row.status,
            "artifacts": self.row.artifacts,
            "counts": self.counts.json(),
            "preset": self.row.preset,
            "task": self.row.task,
            "cwd": self.row.cwd,
            "requestedModel": self.row.requested_model,
            "resolvedModel": self.row.resolved_model,
            "acceptedAt": self.row.accepted_at,
            "warnings": self.warnings,
        })
    }

    fn to_tool_answer(&self, door: Door) -> ToolAnswer {
        let mut lines = vec![text::started(&self.row, self.counts, door)];
        lines.extend(self.warnings.iter().map(|warning| format!("! {warning}")));
        ToolAnswer::new(lines.join("\n"), self.json())
    }
}
