//! The stage of a measurement: home, agent directory and project.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Outcome;
use crate::machine::{program, target};

/// The program that is measured where it is not the one that was built.
static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Directories under the temporary directory, removed on drop, and the program that is measured there.
pub(super) struct Stage {
    root: PathBuf,
    /// `None` for the program that was built.
    program: Option<PathBuf>,
}

impl Stage {
    /// Makes a stage for the program that was built, or chosen.
    pub(super) fn new() -> Outcome<Self> {
        Self::make(CHOSEN.get().cloned())
    }

    /// Makes a stage for a program.
    pub(super) fn of(program: PathBuf) -> Outcome<Self> {
        Self::make(Some(program))
    }

    fn make(program: Option<PathBuf>) -> Outcome<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let root = env::temp_dir().join(format!("pi-bench-{}-{number}", process::id()));
        let stage = Self { root, program };
        for directory in [stage.agent_dir(), stage.project(), stage.path("run")] {
            fs::create_dir_all(&directory)?;
            fs::set_permissions(&directory, Permissions::from_mode(0o700))?;
        }
        Ok(stage)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn agent_dir(&self) -> PathBuf {
        self.path("home/.pi/agent")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Writes a file of the stage and returns its path.
    pub(super) fn write(&self, name: &str, content: &str) -> Outcome<PathBuf> {
        let path = self.path(name);
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Returns `pi-subagents` with these arguments, in the project.
    pub(super) fn command(&self, arguments: &[&str]) -> Outcome<Command> {
        let mut command = self.other(&self.program()?);
        command.args(arguments);
        Ok(command)
    }

    /// Returns another program in the same surroundings; its output is discarded.
    pub(super) fn other(&self, path: &Path) -> Command {
        let mut command = program(path);
        command
            .current_dir(self.project())
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("PI_OFFLINE", "1")
            .env_remove("PI_CODING_AGENT_DIR")
            .env_remove("PI_AGENT_DIR")
            .env_remove("PI_SUBAGENTS_CHILD")
            .env_remove("PI_SUBAGENT_CHILD")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Returns the program that is measured.
    pub(super) fn program(&self) -> Outcome<PathBuf> {
        self.program
            .clone()
            .map_or_else(|| shipped("pi-subagents"), Ok)
    }

    /// Forgets the runs so far.
    pub(super) fn clear(&self) -> Outcome<()> {
        fs::remove_dir_all(self.project())?;
        fs::create_dir_all(self.project())?;
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A directory that cannot be removed stays in the temporary directory.
        _ = fs::remove_dir_all(&self.root);
    }
}

/// Chooses the program that all measurements are about.
pub(super) fn choose(program: PathBuf) -> Outcome<()> {
    CHOSEN
        .set(program)
        .map_err(|_| "a program was chosen already".into())
}

/// Returns a binary that was built as those that are shipped.
pub(super) fn shipped(name: &str) -> Outcome<PathBuf> {
    Ok(target()?.join("dist").join(name))
}

/// Runs a command to its end; any result but success is an error with the output of the command.
pub(super) fn succeed(mut command: Command) -> Outcome<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}\n{said}", output.status).into())
}
