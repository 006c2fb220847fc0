//! Checks our own program, and the features that the system must have.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_git::demand_git;
use pi_subagents_pi_files::on_path;
use rustix::process::{PidfdFlags, getpid, pidfd_open, set_child_subreaper};
use rustix::system::uname;

use super::check::Check;
use pi_subagents_definition_commands::seen::Seen;
use pi_subagents_runs::follow::FileChanges;

/// Checks whether another program of the same name comes first on the search path.
pub(super) fn program(seen: &Seen) -> Check {
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
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    real(one) == real(other)
}

/// Checks the features of Linux that the engine needs.
pub(super) fn platform() -> Check {
    let system = uname();
    let release = system.release().to_string_lossy();
    let machine = system.machine().to_string_lossy();
    let system = format!("Linux {release} on {machine}");
    let missing: Vec<&str> = [
        ("/proc", fs::metadata("/proc/self/stat").is_ok()),
        ("pidfd", pidfd_open(getpid(), PidfdFlags::empty()).is_ok()),
        ("subreaper", set_child_subreaper(Some(getpid())).is_ok()),
        ("inotify", FileChanges::are_reported()),
    ]
    .into_iter()
    .filter_map(|(name, is_there)| (!is_there).then_some(name))
    .collect();
    if missing.is_empty() {
        let text = format!("{system}, with /proc, pidfd, subreaper and inotify");
        return Check::new("platform", text);
    }
    let text = format!("{system}, without {}", missing.join(", "));
    Check::new("platform", text).problem().hint(
        "pi-subagents needs Linux 5.3 or newer, with /proc mounted and without a sandbox that forbids these system calls.",
    )
}
