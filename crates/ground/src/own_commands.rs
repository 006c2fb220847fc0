//! The names under which this binary starts itself. The parser of the command line knows only the
//! agent, which people may start too. The keeper supervises one child, which `confine` becomes if it has a sandbox, the keeper of programs
//! one git after another, the warden one owner, and the sweeper removes old runs.

use std::process::Command;

use pi_subagents_engine::MARKS;

use crate::places::Places;

/// Keeps one child and ends its whole tree.
pub const KEEPER: &str = "keeper";
/// Confines itself and becomes a child, or the shell of one.
pub const CONFINE: &str = "confine";
/// The argument of [`CONFINE`] for a command that has no keeper, such as the gate of a review.
pub const CONFINED_COMMAND: &str = "--command";
/// Keeps the programs that a process of ours runs to their end, such as git.
pub const PROGRAM_KEEPER: &str = "program-keeper";
/// Watches over an owner, and ends the leftovers of its runs when it is killed.
pub const WARDEN: &str = "warden";
/// Owns a background run.
pub const DETACHED: &str = "detached";
/// Answers a shell that completes a word.
pub const COMPLETE: &str = "complete-words";
/// Removes old runs of one project.
pub const SWEEPER: &str = "sweeper";
/// Runs the command of the settings for a background run whose own process did not see its end.
pub const ENDED: &str = "ended";
/// Continues an owner that has stopped itself so that its shell takes the terminal back.
pub const CONTINUER: &str = "continuer";
/// Speaks to an agent of others.
pub const BRIDGE: &str = "bridge";
/// Is the embedded agent.
pub const EMBEDDED: &str = "embedded";

/// Makes the command of a process of our own that outlives this one. The process has the
/// environment of its caller, but it belongs to no run: a process that ends a run must not take it
/// for a part of that run.
#[expect(
    clippy::disallowed_methods,
    reason = "it is an owner, or looks after runs, and is no sub-agent"
)]
pub fn process(places: &Places, name: &str) -> Command {
    let mut command = Command::new(&places.program);
    let variables = places
        .variables
        .iter()
        .filter(|(name, _)| MARKS.iter().all(|mark| name.as_os_str() != *mark));
    command
        .arg(name)
        .current_dir(&places.cwd)
        .env_clear()
        .envs(variables);
    command
}
