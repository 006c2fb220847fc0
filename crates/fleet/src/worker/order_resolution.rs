//! From an order to the child on this machine: the worker's own programs, models and keys.

use std::path::Path;

use pi_subagents_fleet_queue::wire::Order;

use pi_subagents_calls::resolve::{ResolvedWork, Resolver};

/// Resolves an order for this machine, or returns the reason why this machine cannot do it. The work
/// is done as it came; a gate in it needs no permission of its own, because a caller who may give
/// orders may have a shell here: the caller has decided who may name a gate, and signed the order.
pub(super) fn resolve_order(
    resolver: &Resolver<'_>,
    order: &Order,
) -> Result<ResolvedWork, NotHere> {
    let here = resolver.find_here(&order.work);
    Ok(ResolvedWork {
        here: here.map_err(NotHere::Missing)?,
        work: order.work.clone(),
    })
}

/// The reason why a worker does not do an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotHere {
    /// Something is not on this machine, and may be on another.
    Missing(String),
    /// No worker of this version can do it.
    Refused(String),
}

impl NotHere {
    /// Returns the reason alone.
    pub(super) fn into_words(self) -> String {
        match self {
            Self::Missing(words) | Self::Refused(words) => words,
        }
    }
}

/// Returns the directory in a workspace that an order names; it never leads out of the workspace.
pub(super) fn ordered_directory(
    workspace: &Path,
    order: &Order,
) -> Result<std::path::PathBuf, NotHere> {
    let relative = Path::new(&order.relative_cwd);
    let stays_inside = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    if !stays_inside {
        return Err(NotHere::Refused(format!(
            "\"{}\" leads out of the workspace",
            order.relative_cwd
        )));
    }
    Ok(workspace.join(relative))
}
