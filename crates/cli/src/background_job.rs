//! A call in the foreground goes on as a job behind its shell, without being paused.

use std::io::{self, Write as _};
use std::process::Stdio;

use pi_subagents_engine::KnownChildren;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::own_commands::{CONTINUER, process};
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::stop_this_process;
use pi_subagents_os::has_terminal;
use tokio::process::Command;

/// The sentence that stays on the screen.
const GOES_ON: &str = "The call continues in the background, and prints its answer here. fg shows its windows again; pi-subagents attach shows them anywhere.";

/// Stops this process for the moment that its shell needs to take the terminal back. The sub-agents
/// work on meanwhile. Fails where the shell has no jobs.
pub(crate) async fn go_behind_the_shell(places: &Places) -> Result<(), CommandError> {
    let mut command = Command::from(process(places, CONTINUER));
    // Its stderr is the terminal at which it looks.
    command
        .arg(std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let known_children = KnownChildren::of_this_process();
    let started = known_children.start(&mut command);
    let mut continuer = started.map_err(|error| {
        CommandError::failed("the call cannot go into the background").because(&error)
    })?;
    let pid = continuer.id();
    // A terminal that is gone needs no words.
    _ = writeln!(io::stderr(), "{GOES_ON}");
    stop_this_process().await;
    // It has done its work.
    _ = continuer.wait().await;
    if let Some(pid) = pid {
        known_children.ended(pid);
    }
    if has_terminal() {
        return Err(CommandError::failed(
            "this shell has no jobs, so the call stays in the foreground",
        ));
    }
    Ok(())
}
