//! Opens the page in a browser for somebody who leaves the screen with all runs.

use std::process::Stdio;

use pi_subagents_engine::KnownChildren;
use pi_subagents_vocabulary::RunId;
use tokio::process::Command;

use pi_subagents_calls::detached_process::reap;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::own_commands::process;
use pi_subagents_ground::places::Places;
use pi_subagents_web::can_open;

/// Starts a process that opens the page at a run, and serves it unless one is served already. It is
/// no part of the terminal's foreground, so that closing the terminal does not end it.
pub(super) fn open_page(run: &RunId, places: &Places) -> Result<(), CommandError> {
    if !can_open(places) {
        let problem = "there is no program here that opens a browser";
        return Err(CommandError::failed(problem)
            .hint("pi-subagents web prints an address for a browser on this machine."));
    }
    let mut command = Command::from(process(places, "web"));
    command
        .args([run.as_str(), "--open"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let known_children = KnownChildren::spare_unknown();
    let served = known_children
        .start(&mut command)
        .map_err(|error| CommandError::failed("the page could not be opened").because(&error))?;
    reap(served, known_children);
    Ok(())
}
