//! From an order to the child on this machine: the worker's own programs, models and keys.

use std::path::Path;

use pi_subagents_fleet_queue::wire::Order;

use pi_subagents_calls::resolve::{ResolvedWork, Resolver};
use pi_subagents_vocabulary::{Sandbox, Work};

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
        work: Work {
            sandbox: sandbox_here(resolver, &order.work.sandbox),
            ..order.work.clone()
        },
    })
}

/// Returns the sandbox of an order as this worker keeps it.
fn sandbox_here(resolver: &Resolver<'_>, ordered: &Sandbox) -> Sandbox {
    let settings = resolver.settings();
    let of_user = &settings.sandbox;
    let minimum = settings.fleet.sandbox_minimum.tightened(of_user.minimum);
    let own = Sandbox {
        writable: of_user.writable.clone(),
        hidden: of_user.hidden.clone(),
        readable: of_user.readable.clone(),
        hosts: of_user.hosts.clone(),
        ..Sandbox::default()
    };
    ordered.clone().on_worker(minimum, own)
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
