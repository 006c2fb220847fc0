//! `background_agent`: from the call to the moment when the run has a process of its own.

use pi_subagents_engine::KnownChildren;
use serde_json::{Value, json};

use super::text;
use crate::caller::Caller;
use crate::detached::{Order, start};
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::counts::Counts;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::Door;

/// A background run that has begun.
pub struct Spawned {
    pub row: RunRow,
    pub counts: Counts,
    pub warnings: Vec<String>,
}

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
    Ok(spawned.to_tool_answer(caller.door))
}

/// Starts a background run.
pub async fn spawn(
    arguments: &Value,
    caller: &Caller,
    known_children: &KnownChildren,
) -> Result<Spawned, CommandError> {
    let order = Order::new(arguments, caller);
    let taken = start(&order, &caller.places, known_children).await?;
    if let Some(why) = taken.refusal {
        return Err(CommandError::failed(why));
    }
    Ok(Spawned {
        row: taken.row,
        counts: taken.counts,
        warnings: taken.warnings,
    })
}

impl Spawned {
    /// Makes the output of `spawn --json`: the row of the run, with counts and warnings.
    pub fn json(&self) -> Value {
        self.json_of(&self.row)
    }

    fn json_of(&self, row: &RunRow) -> Value {
        let mut fields = json!(row);
        fields["counts"] = self.counts.json();
        fields["warnings"] = json!(self.warnings);
        fields
    }

    fn to_tool_answer(&self, door: Door) -> ToolAnswer {
        let mut lines = vec![text::started(&self.row, self.counts, door)];
        lines.extend(self.warnings.iter().map(|warning| format!("! {warning}")));
        let details = self.json_of(&self.row.clone().without_owner());
        ToolAnswer::new(lines.join("\n"), details)
    }
}
