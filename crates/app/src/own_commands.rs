//! The names under which this binary starts itself. The parser of the command line knows only the
//! agent, which people may start too. The keeper supervises one child, the warden one owner, and the
//! sweeper removes old runs.

/// Keeps one child and ends its whole tree.
pub(crate) const KEEPER: &str = "keeper";
/// Watches over an owner, and ends the leftovers of its runs when it is killed.
pub(crate) const WARDEN: &str = "warden";
/// Owns a background run.
pub(crate) const DETACHED: &str = "detached";
/// Answers a shell that completes a word.
pub(crate) const COMPLETE: &str = "complete-words";
/// Removes old runs of one project.
pub(crate) const SWEEPER: &str = "sweeper";
/// Is the embedded agent.
pub(crate) const AGENT: &str = "agent";
