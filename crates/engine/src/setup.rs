//! Prepares the worktree of a run before its first child: the command of the user runs under a keeper
//! as a gate does, and its time is not the time of the sub-agent.

use std::io::Write as _;

use pi_subagents_files::create_new;
use pi_subagents_vocabulary::{Ending, Happening, Setup};
use tracing::warn;

use crate::child::CommandOfRun;
use crate::gate::{GateEnd, GateOutput, run_command};
use crate::unit::Unit;

/// The largest number of characters that are told of its last line.
const LONGEST_TOLD: usize = 300;

/// Runs the command that prepares the worktree, if there is one. Returns how the run ends if that
/// fails.
pub(crate) async fn prepare(unit: &mut Unit) -> Option<Ending> {
    let setup = unit.plan.here.setup.take()?;
    let script = setup.script();
    let command = CommandOfRun::Setup(&script);
    let (end, output) = run_command(unit, command, Setup::TIMEOUT).await;
    write_log(unit, &setup, &end, &output);
    if let GateEnd::Ended(decision) = end {
        unit.report(Happening::Stopping(decision.kind())).await;
        return Some(decision.ending());
    }
    if let GateEnd::NotConfined(reason) = end {
        return Some(Ending::NotConfined { reason });
    }
    let reason = reason(&end)?;
    let told = output.tail();
    let last = told.lines().rev().find(|line| !line.trim().is_empty());
    let last: String = last
        .unwrap_or_default()
        .trim()
        .chars()
        .take(LONGEST_TOLD)
        .collect();
    let said = if last.is_empty() {
        String::new()
    } else {
        format!(": {last}")
    };
    Some(Ending::Refused {
        message: format!(
            "Failed to prepare the worktree: {} {reason}{said}",
            setup.command
        ),
    })
}

/// Returns how a command ended that did not succeed.
fn reason(end: &GateEnd) -> Option<String> {
    match end {
        GateEnd::Exited(0) => None,
        GateEnd::Exited(code) => Some(format!("exited with {code}")),
        GateEnd::Signalled(signal) => Some(format!("was killed by signal {signal}")),
        GateEnd::TimedOut(limit) => Some(format!("took more than {} s", limit.as_secs())),
        GateEnd::Unknown(_) | GateEnd::NotConfined(_) | GateEnd::Ended(_) => {
            end.reason().map(|reason| format!("did not run ({reason})"))
        }
    }
}

/// Writes `setup.log` into the run directory. A log that cannot be written ends nothing.
fn write_log(unit: &Unit, setup: &Setup, end: &GateEnd, output: &GateOutput) {
    let Some(directory) = &unit.task.directory else {
        return;
    };
    let ended = reason(end).unwrap_or_else(|| "succeeded".to_owned());
    let written = create_new(&directory.join("setup.log")).and_then(|mut file| {
        writeln!(file, "$ {}", setup.command)?;
        file.write_all(&output.kept())?;
        writeln!(file, "\n[{ended}]")
    });
    if let Err(error) = written {
        warn!(run = %unit.task.run, %error, "the log of the setup could not be written");
    }
}
