//! Waits for the turn of a gate: gates of one checkout run one after another, because each may fail
//! for what another one does.

use std::time::Duration;

use pi_subagents_vocabulary::{Decision, Happening};
use tokio::time::{Instant, sleep};

use crate::checkout::{GateTurn, is_at_work, take_gate_turn};
use crate::guards::GateAttempts;
use crate::request::UnitRequest;
use crate::to_child::NotSent;
use crate::unit::Unit;

/// The pause between two looks at a checkout whose gate is taken.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The longest wait for the gates of others.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Waits until no other gate runs in the checkout of the run. Returns the turn, which others wait
/// for, or the decision to end the run. Nobody waits for a run that has its own checkout.
pub(super) async fn take_turn(
    unit: &mut Unit,
    gates: &mut GateAttempts,
) -> Result<Option<GateTurn>, Decision> {
    let Some(shared) = unit.plan.here.shared.clone() else {
        return Ok(None);
    };
    let began = Instant::now();
    let turn = loop {
        match take_gate_turn(&shared) {
            GateTurn::Taken if began.elapsed() < LONGEST_WAIT => {}
            turn => break turn,
        }
        wait(unit).await?;
    };
    if is_at_work(&shared) && gates.warn_of_others() {
        let root = shared.root.display();
        let warning = format!(
            "other sub-agents work in {root} while the gate runs, so its verdict may be theirs; --isolation worktree keeps runs apart"
        );
        unit.report(Happening::Warned(warning)).await;
    }
    Ok(Some(turn))
}

/// Waits for a moment, or until somebody wants the end of the run.
async fn wait(unit: &mut Unit) -> Result<(), Decision> {
    unit.send_events().await;
    let request = tokio::select! {
        Some(request) = unit.requests.recv() => Some(request),
        () = sleep(LOOK_AGAIN) => None,
    };
    match request {
        Some(UnitRequest::End(decision)) => Err(decision),
        Some(UnitRequest::Send { answer, .. }) => {
            // The asker may have left.
            _ = answer.send(Err(NotSent::Ending(unit.task.run.clone())));
            Ok(())
        }
        // There is nothing to pause.
        Some(UnitRequest::Pause { .. } | UnitRequest::Resume { .. }) | None => Ok(()),
    }
}
