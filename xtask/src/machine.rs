//! The parts of the machine that the commands use: the workspace, cargo and the environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// Returns the directory of the workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// Returns the directory that holds `debug` and `release`.
pub(crate) fn target() -> Outcome<PathBuf> {
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2);
    Ok(target
        .ok_or("this program is not in a target directory")?
        .to_owned())
}

/// Returns a program that is about to be started.
#[expect(
    clippy::disallowed_methods,
    reason = "starting cargo, and what is measured, is the work of this crate"
)]
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}

/// Returns a cargo in the workspace that is about to be started.
///
/// `cargo run` has set variables for this package. A cargo that we start must not see them, or
/// build scripts that look at these variables run again each time.
pub(crate) fn cargo() -> Command {
    let mut cargo = program(variable("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let ours = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ];
        if ours
            .iter()
            .any(|part| name.to_string_lossy().starts_with(part))
        {
            cargo.env_remove(name);
        }
    }
    cargo.current_dir(root());
    cargo
}

/// Returns a variable of the environment, unless it is empty.
#[expect(
    clippy::disallowed_methods,
    reason = "a developer's command has no app that could hand it down"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
