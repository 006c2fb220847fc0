//! From an order to the child on this machine: the worker's own programs, models and keys.

use std::path::Path;

use pi_subagents_fleet_queue::wire::Order;

use pi_subagents_calls::resolve::{ReadingRun, ResolvedWork, Resolver};
use pi_subagents_vocabulary::{Runner, Sandbox, SandboxLevel, Work};

/// Resolves an order for this machine, or returns the reason why this machine cannot do it. The work
/// is done as it came; a gate in it needs no permission of its own, because a caller who may give
/// orders may have a shell here: the caller has decided who may name a gate, and signed the order.
pub(super) fn resolve_order(
    resolver: &Resolver<'_>,
    order: &Order,
) -> Result<ResolvedWork, NotHere> {
    let here = resolver.find_here(&order.work);
    let here = here.map_err(NotHere::Missing)?;
    Ok(ResolvedWork {
        work: Work {
            sandbox: sandbox_here(resolver, &order.work, here.runner),
            ..order.work.clone()
        },
        here,
    })
}

/// Returns the sandbox of an order as this worker keeps it. The worker also decides what follows from
/// the tools of the run: its caller cannot know which sandboxes can be had here.
fn sandbox_here(resolver: &Resolver<'_>, work: &Work, runner: Runner) -> Sandbox {
    let settings = resolver.settings();
    let of_user = &settings.sandbox;
    let minimum = settings.fleet.sandbox_minimum.tightened(of_user.minimum);
    let minimum = minimum.tightened(level_by_tools(resolver, work, runner));
    let ordered = &work.sandbox;
    let own = Sandbox {
        writable: of_user.writable.clone(),
        hidden: of_user.hidden.clone(),
        readable: of_user.readable.clone(),
        hosts: of_user.hosts.clone(),
        ..Sandbox::default()
    };
    ordered.clone().on_worker(minimum, own)
}

/// Returns the level of an order for which nobody has chosen one.
fn level_by_tools(resolver: &Resolver<'_>, work: &Work, runner: Runner) -> SandboxLevel {
    let is_chosen = !work.sandbox.is_off() || resolver.settings().sandbox.wish.level.is_some();
    let places = resolver.places();
    let reading = ReadingRun {
        tools: &work.tools,
        runner,
        model: &work.model,
        fallback_models: &work.fallback_models,
        mcp_servers: &work.mcp_servers.0,
        gates: &work.gates,
        setup: None,
        cwd: &places.cwd,
        trusted: false,
    };
    let level = reading.level();
    if is_chosen || level.is_off() || reading.obstacle(places).is_some() {
        return SandboxLevel::Off;
    }
    level
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
