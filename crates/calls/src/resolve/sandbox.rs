//! Decides the sandbox of a task: the wishes of everybody who may have one, and the files that it
//! names.

use std::path::{Path, PathBuf};

use pi_subagents_configuration::{PlanPatch, SandboxSettings};
use pi_subagents_vocabulary::{
    DecidedSandbox, Definition, NetworkHost, NetworkNeedsSandbox, Refusal, Sandbox, SandboxLevel,
    Scope, WishSource, decide_sandbox, hidden_paths,
};

use super::reading_run::ReadingRun;
use super::task::RequestedTask;
use crate::caller::Caller;

/// The sandbox of a task, and the wishes that do not hold.
pub(super) struct TaskSandbox {
    pub(super) sandbox: Sandbox,
    pub(super) origin: SandboxOrigin,
    pub(super) warnings: Vec<String>,
}

/// Where the sandbox of a task comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxOrigin {
    /// Somebody has chosen it, or chosen that there is none.
    Chosen,
    /// It follows from the tools of the run alone, so a run that goes on with other tools decides
    /// again.
    Tools,
}

/// Decides the sandbox of a task. Where nobody has chosen a level, the tools of the run decide, unless
/// the run is done elsewhere, which is when there is no `reading`.
pub(super) fn sandbox_of(
    task: &RequestedTask,
    patch: Option<&PlanPatch>,
    caller: &Caller,
    settings: &SandboxSettings,
    reading: Option<ReadingRun<'_>>,
) -> Result<TaskSandbox, Refusal> {
    let definition = patch.map(|patch| &patch.definition);
    let of_definition = definition.map(Definition::sandbox_wish).transpose();
    let of_definition = of_definition.map_err(|error| Refusal {
        message: format!("network must be {error}"),
    })?;
    let of_definition = of_definition.unwrap_or_default();
    let is_own = definition.is_some_and(|definition| definition.scope == Scope::Global);
    let earlier = task.inherited.as_ref();
    let wish_of = |source| match source {
        WishSource::Flag => caller.overrides.terms.sandbox_wish(),
        WishSource::Task => task.request.terms.sandbox_wish(),
        WishSource::EarlierRun => earlier
            .map(|earlier| earlier.terms_for(None).sandbox_wish())
            .unwrap_or_default(),
        other => settings.wish_of(other, &of_definition, is_own),
    };
    let refuse = |error: NetworkNeedsSandbox| Refusal {
        message: error.to_string(),
    };
    let by_tools = reading.map_or(SandboxLevel::Off, |reading| reading.level());
    let mut decided = decide_sandbox(wish_of, by_tools).map_err(refuse)?;
    let places = &caller.places;
    if decided.is_by_tools && reading.is_some_and(|reading| reading.obstacle(places).is_some()) {
        decided = decide_sandbox(wish_of, SandboxLevel::Off).map_err(refuse)?;
    }
    let warnings = decided.warnings.clone();
    let origin = if decided.is_by_tools {
        SandboxOrigin::Tools
    } else {
        SandboxOrigin::Chosen
    };
    let sandbox = with_lists(decided, definition, settings);
    check_files(task, &sandbox, caller)?;
    Ok(TaskSandbox {
        sandbox,
        origin,
        warnings,
    })
}

/// Adds the lists of the settings and of the definition. Those of a project that give more were left
/// out when its file was read.
fn with_lists(
    decided: DecidedSandbox,
    definition: Option<&Definition>,
    settings: &SandboxSettings,
) -> Sandbox {
    if decided.level.is_off() {
        return Sandbox::default();
    }
    let both = |own: &[String], of: fn(&Definition) -> &Vec<String>| -> Vec<String> {
        let of_definition = definition.map(of).into_iter().flatten();
        own.iter().chain(of_definition).cloned().collect()
    };
    let of_definition = definition.map(|definition| definition.network_hosts.iter());
    let of_definition = of_definition.into_iter().flatten();
    let hosts = of_definition.filter_map(|host| NetworkHost::parse(host).ok());
    Sandbox {
        level: decided.level,
        network: decided.network,
        writable: both(&settings.writable, |definition| {
            &definition.sandbox_writable
        }),
        hidden: both(&settings.hidden, |definition| &definition.sandbox_hidden),
        readable: both(&settings.readable, |definition| {
            &definition.sandbox_readable
        }),
        hosts: settings.hosts.iter().cloned().chain(hosts).collect(),
    }
}

/// Refuses a task that puts a hidden file before its prompt, or has an item out of its lines: its
/// owner would read it for the child.
fn check_files(task: &RequestedTask, sandbox: &Sandbox, caller: &Caller) -> Result<(), Refusal> {
    let request = &task.request;
    if sandbox.is_off() || (request.files.is_empty() && request.items_from.is_none()) {
        return Ok(());
    }
    let places = &caller.places;
    let runtime = places.variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    let hidden = hidden_paths(sandbox, &places.home, &places.agent_dir, runtime.as_deref());
    let hidden: Vec<PathBuf> = hidden.iter().map(|path| real_path(path)).collect();
    let cwd = task.request.cwd.clone();
    let cwd = cwd.unwrap_or_else(|| caller.working_directory());
    let is_hidden = |(path, _): &(&Path, _)| {
        let real = real_path(&cwd.join(path));
        hidden.iter().any(|hidden| real.starts_with(hidden))
    };
    let list = request
        .items_from
        .iter()
        .map(|file| (file.as_path(), "forEach"));
    let files = request.files.iter().map(|file| (file.path(), "files"));
    match files.chain(list).find(is_hidden) {
        None => Ok(()),
        Some((path, field)) => Err(Refusal {
            message: format!(
                "The sandbox ({}) hides {}. Leave it out of {field}, or list it in your setting \
                 subagents.sandboxReadable.",
                sandbox.level,
                path.display()
            ),
        }),
    }
}

/// Returns the path that a path leads to. A file that does not exist is reported elsewhere.
fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
