//! Checks our own program, and the features that the system must have.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_git::demand_git;
use pi_subagents_os::{Machine as _, System};
use pi_subagents_pi_files::on_path;

use super::check::Check;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;

/// Checks whether another program of the same name comes first on the search path.
pub(super) fn program(seen: &VisibleAgents) -> Check {
    let ours = &seen.places.program;
    let version = env!("CARGO_PKG_VERSION");
    let check = Check::new(
        "program",
        format!("pi-subagents {version}, {}", ours.display()),
    );
    let path = seen.places.variable("PATH").unwrap_or_default();
    match on_path("pi-subagents", path) {
        Some(first) if !is_same(&first, ours) => check.warning().hint(format!(
            "Another pi-subagents comes first on PATH: {}. Remove it, or put the directory of this one before it.",
            first.display()
        )),
        Some(_) | None => check,
    }
}

/// Checks whether git can make worktrees and merge. Everything else works without it.
pub(super) fn git() -> Check {
    match demand_git() {
        Ok(()) => Check::new("git", "new enough for worktrees and merges"),
        Err(error) => Check::new("git", error.to_string()).warning().hint(
            "Install git 2.43 or newer: without it there is no --isolation worktree, no merge and no fleet.",
        ),
    }
}

/// Returns whether two paths lead to one file.
pub(in crate::commands) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    real(one) == real(other)
}

/// Checks the features of the system that the engine needs.
pub(super) fn platform() -> Check {
    let facts = System::facts();
    let (there, missing): (Vec<_>, Vec<_>) = facts.features.iter().partition(|(_, is)| *is);
    let names = |features: &[(&'static str, bool)]| {
        let names: Vec<&str> = features.iter().map(|(name, _)| *name).collect();
        names
    };
    if missing.is_empty() {
        let text = format!("{}, with {}", facts.name, listed(&names(&there)));
        return Check::new("platform", text);
    }
    let text = format!("{}, without {}", facts.name, names(&missing).join(", "));
    Check::new("platform", text).problem().hint(facts.advice)
}

/// Joins words as a sentence does.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [words @ .., last] => format!("{} and {last}", words.join(", ")),
    }
}
