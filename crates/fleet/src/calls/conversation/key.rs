//! The name of a conversation in a fleet: the same in every checkout of a repository.

use std::path::Path;

use pi_subagents_fleet_queue::names::{session_key, short_name};
use pi_subagents_git::Repository;
use pi_subagents_vocabulary::SessionId;

use crate::runs::connection::caller_of;
use pi_subagents_ground::places::Places;

/// Returns the key of a conversation that belongs to a directory, an agent and a session id. Outside
/// of a repository it belongs to this machine too.
pub(crate) fn key_of(places: &Places, cwd: &Path, agent: &str, session: &SessionId) -> String {
    let in_repository = || {
        let repository = Repository::find(cwd).ok()?;
        let inside = repository.relative(cwd)?;
        let inside = inside.to_string_lossy();
        Some(short_name(&["repository", &repository.id().ok()?, &inside]))
    };
    let on_machine = || {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        short_name(&["directory", &caller_of(places), &real.to_string_lossy()])
    };
    let somewhere = in_repository().unwrap_or_else(on_machine);
    session_key(&somewhere, agent, session.as_str())
}
