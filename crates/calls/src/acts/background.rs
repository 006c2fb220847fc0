//! Sends a task to the background: its run belongs to a process that outlives its caller.

use pi_subagents_engine::KnownChildren;
use pi_subagents_vocabulary::RunId;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::detached_process::{DetachedOrder, OrderedTool, WaitedCall, start};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::Counts;

/// A run that has begun in a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedRun {
    pub run: RunId,
    /// A notice for the person who started the run.
    pub warnings: Vec<String>,
}

/// A background run that has begun, with its row and the counts of all such runs.
pub struct Spawned {
    pub row: RunRow,
    pub counts: Counts,
    pub warnings: Vec<String>,
}

/// Starts a background run.
pub async fn spawn(
    arguments: &Value,
    caller: &Caller,
    known_children: &KnownChildren,
) -> Result<Spawned, CommandError> {
    let order = DetachedOrder::new(arguments, caller);
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

impl From<Spawned> for StartedRun {
    fn from(spawned: Spawned) -> Self {
        Self {
            run: spawned.row.report.run_id,
            warnings: spawned.warnings,
        }
    }
}

/// Starts a task of `delegate_to_subagents` as a background run.
pub(super) async fn delegate_in_background(
    task: &Value,
    caller: &Caller,
    known_children: &KnownChildren,
) -> Result<StartedRun, CommandError> {
    let arguments = json!({ "tasks": [task] });
    let order = DetachedOrder::of_call(OrderedTool::Delegate, &arguments, caller, 1);
    let mut call = WaitedCall::start(&order, &caller.places, known_children).await?;
    // Nobody waits for its answer.
    call.go_on().await;
    let begun = call.runs().first().map(|begun| RunId::parse(&begun.run));
    let Some(Ok(run)) = begun else {
        return Err(CommandError::failed("the background process began no run"));
    };
    Ok(StartedRun {
        run,
        warnings: Vec::new(),
    })
}
