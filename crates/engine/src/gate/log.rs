//! The log of a gate, in the run directory.

use std::io::Write as _;

use pi_subagents_files::create_new;
use pi_subagents_vocabulary::Gate;
use tracing::warn;

use super::command::GateEnd;
use super::output::GateOutput;
use crate::unit::Unit;

/// Writes `gate-N.log`: the command, its output, and its end. A run without a directory has no log,
/// and a log that cannot be written ends nothing.
pub(super) fn write(unit: &Unit, number: u32, gate: &Gate, end: &GateEnd, output: &GateOutput) {
    let Some(directory) = &unit.task.directory else {
        return;
    };
    let path = directory.join(format!("gate-{number}.log"));
    let ended = match (end, end.reason()) {
        (GateEnd::Ended(_), _) => "ended with its run".to_owned(),
        (_, Some(reason)) => reason,
        (_, None) => "passed".to_owned(),
    };
    let written = create_new(&path).and_then(|mut file| {
        writeln!(file, "$ {}", gate.command)?;
        file.write_all(&output.kept())?;
        writeln!(file, "\n[{ended}]")
    });
    if let Err(error) = written {
        warn!(run = %unit.task.run, %error, "the log of a gate could not be written");
    }
}
