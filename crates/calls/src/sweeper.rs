//! Starts the process that applies the retention of the settings: nobody waits for it, and no
//! answer is later because of it.

use std::process::Stdio;

use pi_subagents_engine::KnownChildren;
use pi_subagents_vocabulary::Timestamp;
use tokio::process::Command;

use crate::detached_process::reap;
use pi_subagents_ground::own_commands::{SWEEPER, process};
use pi_subagents_ground::places::Places;
use pi_subagents_runs::cleanup::retention;

/// Starts the process if it is time to look at the project of a call that has ended.
pub(crate) fn start_if_due(places: &Places, known_children: &KnownChildren) {
    if !retention::is_due(places, Timestamp::now()) {
        return;
    }
    let mut command = Command::from(process(places, SWEEPER));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // If the sweeper cannot be started, the next call tries again.
    if let Ok(sweeper) = known_children.start(&mut command) {
        reap(sweeper, known_children.clone());
    }
}
