//! The gates of a run: commands of the user that are run when the sub-agent reports that it is
//! done.
//!
//! A gate runs between two children, under a keeper of its own (`command.rs`). A pure rule
//! (`guards/gates.rs`) decides whether a failure ends the run or goes to the next child; the words
//! for the child are in `prompt.rs`. See `docs/design/gates.md`.

mod command;
mod log;
mod output;
mod prompt;
mod turn;

use pi_subagents_vocabulary::{Decision, Ending, Gate, GateStep, Gated, Happening};
use tokio::time::Instant;

pub(crate) use self::command::{GateEnd, run_command};
pub(crate) use self::output::GateOutput;
use self::turn::take_turn;
use crate::child::CommandOfRun;
use crate::guards::GateVerdict;
use crate::run_progress::RunProgress;
use crate::unit::Unit;

/// The consequence of the gates for their run.
pub(crate) enum Gates {
    /// The run is over.
    Over(Ending),
    /// Another child gets this prompt.
    Mend(String),
}

/// Runs all gates of a run in their order, until a gate does not pass.
pub(crate) async fn run_gates(unit: &mut Unit, progress: &mut RunProgress) -> Gates {
    let began = Instant::now();
    let gates = unit.plan.work.gates.clone();
    for (place, gate) in gates.iter().enumerate() {
        if let Some(outcome) = run_gate(unit, progress, place, gate).await {
            // The time of a gate is not the time of the sub-agent.
            if let Some(deadline) = &mut progress.deadline {
                deadline.paused(began.elapsed());
            }
            return outcome;
        }
    }
    Gates::Over(Ending::Completed)
}

/// Runs one gate. Returns `None` if it has passed.
async fn run_gate(
    unit: &mut Unit,
    progress: &mut RunProgress,
    place: usize,
    gate: &Gate,
) -> Option<Gates> {
    let turn = match take_turn(unit, &mut progress.gates).await {
        Ok(turn) => turn,
        Err(decision) => return Some(Gates::Over(ended(unit, decision).await)),
    };
    let attempt = progress.gates.begin(place);
    let log = progress.gates.next_log();
    let report = async |unit: &mut Unit, step| report(unit, gate, attempt, log, step).await;
    report(unit, GateStep::Began).await;
    let (end, output) = run_command(unit, CommandOfRun::Gate(&gate.command), gate.timeout).await;
    drop(turn);
    log::write(unit, log, gate, &end, &output);
    if let GateEnd::Ended(decision) = end {
        return Some(Gates::Over(ended(unit, decision).await));
    }
    let Some(reason) = end.reason() else {
        report(unit, GateStep::Passed).await;
        return None;
    };
    let failed = GateStep::Failed {
        reason: reason.clone(),
    };
    report(unit, failed).await;
    let can_go_on = unit.plan.here.session.file().is_some();
    let is_mendable = end.is_mendable() && can_go_on;
    Some(match progress.gates.judge(place, gate, is_mendable) {
        GateVerdict::Mend => {
            progress.gates.note_failure();
            Gates::Mend(prompt::failed(gate, &reason, &output.tail()))
        }
        GateVerdict::Over(why) => Gates::Over(Ending::GateFailed {
            command: gate.command.clone(),
            reason: why.map_or(reason.clone(), |why| format!("{reason}, {why}")),
            attempts: attempt,
        }),
    })
}

async fn ended(unit: &mut Unit, decision: Decision) -> Ending {
    unit.report(Happening::Stopping(decision.kind())).await;
    decision.ending()
}

async fn report(unit: &mut Unit, gate: &Gate, attempt: u32, log: u32, step: GateStep) {
    let gated = Gated {
        command: gate.command.clone(),
        attempt,
        log,
        step,
    };
    unit.report(Happening::Gated(gated)).await;
    // People look at the screen while a gate runs.
    unit.send_events().await;
}
