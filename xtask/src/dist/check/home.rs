//! A fresh home: nothing is configured in it, and it is removed on drop.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Outcome;
use crate::machine::{program, variable};

/// Directories below the temporary directory.
pub(super) struct Home {
    root: PathBuf,
}

impl Home {
    pub(super) fn new() -> Outcome<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let root = env::temp_dir().join(format!("pi-check-{}-{number}", std::process::id()));
        let home = Self { root };
        for name in ["home/.pi/agent", "run", "project", "installed"] {
            let directory = home.path(name);
            fs::create_dir_all(&directory)?;
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o700))?;
        }
        home.write("project/README.md", "A lighthouse.\n")?;
        Ok(home)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns the directory into which something is installed.
    pub(super) fn installed(&self) -> PathBuf {
        self.path("installed")
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let path = self.path(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns a program that sees this home and none of our variables, in the project.
    pub(super) fn command(&self, name: &Path) -> Command {
        let mut command = program(name);
        command
            .env_clear()
            .env("PATH", variable("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("LANG", "C.UTF-8")
            .env("PI_OFFLINE", "1")
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A directory that cannot be removed stays in the temporary directory.
        _ = fs::remove_dir_all(&self.root);
    }
}

/// Runs a command to its end and returns its stdout; any result but success is an error with all
/// that it printed.
pub(super) fn output(command: &mut Command) -> Outcome<String> {
    let output = ended(command)?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let name = command.get_program().to_string_lossy().into_owned();
    Err(format!("{name} ({}):\n{stdout}{stderr}", output.status).into())
}

/// Runs a command to its end, however it ends.
pub(super) fn ended(command: &mut Command) -> Outcome<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    Ok(command
        .output()
        .map_err(|error| format!("{name}: {error}"))?)
}

/// Returns whether a program is on the PATH.
pub(super) fn is_here(name: &str) -> bool {
    let path = variable("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(name).is_file())
}
