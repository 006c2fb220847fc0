//! The sandbox of the gates of a review. A gate executes code that sub-agents wrote, so it gets what
//! the tightest of them had.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_engine::ConfinedCommand;
use pi_subagents_ground::own_commands::{CONFINE, CONFINED_COMMAND};
use pi_subagents_ground::places::Places;
use pi_subagents_os::ProgramCommand;
use pi_subagents_records::{RecordedRun, RunDir};
use pi_subagents_vocabulary::{
    Confinement, NetworkReach, Sandbox, SandboxLevel, hidden_paths, is_for_us_alone,
};

/// The sandbox of all gates of one review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GateSandbox {
    pub(super) sandbox: Sandbox,
    /// The places of this machine.
    confinement: Confinement,
    /// Our own binary.
    program: PathBuf,
}

/// The places that gates of a review must not see, beside those that every sandbox hides.
#[derive(Clone, Copy)]
pub(super) struct HiddenGround<'a> {
    pub(super) places: &'a Places,
    /// Files with keys that the settings name.
    pub(super) keys: &'a [PathBuf],
}

impl HiddenGround<'_> {
    /// Returns the sandbox for gates over the results of these runs, of which a later one may continue
    /// an earlier one; `None` if all of them were open.
    pub(super) fn sandbox_of(self, runs: &[RunDir], checkout: &Path) -> Option<GateSandbox> {
        let confined = runs.iter().map(sandbox_of).filter(|one| !one.is_off());
        let tightest = confined.reduce(Sandbox::tightened)?;
        // The gate writes in a copy that nobody keeps, also after a run that wrote nothing.
        let sandbox = Sandbox {
            level: SandboxLevel::WorkspaceWrite,
            ..tightest
        };
        Some(GateSandbox {
            confinement: self.confinement(&sandbox, runs, checkout),
            sandbox,
            program: self.places.program.clone(),
        })
    }

    fn confinement(self, sandbox: &Sandbox, runs: &[RunDir], checkout: &Path) -> Confinement {
        let places = self.places;
        let absolute = |paths: &[String]| -> Vec<PathBuf> {
            let paths = paths.iter();
            paths
                .filter_map(|path| Sandbox::absolute(path, &places.home))
                .collect()
        };
        let runtime = places.variable("XDG_RUNTIME_DIR").map(PathBuf::from);
        let mut hidden = hidden_paths(sandbox, &places.home, &places.agent_dir, runtime.as_deref());
        let of_runs = runs.iter().filter_map(|run| run.path().parent());
        hidden.extend(of_runs.map(Path::to_owned));
        hidden.push(places.sockets.clone());
        let entries = fs::read_dir(&places.agent_dir);
        let entries = entries.into_iter().flatten().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_for_us_alone));
        hidden.extend(ours.map(|entry| entry.path()));
        hidden.extend(self.keys.iter().cloned());
        let mut visible = absolute(&sandbox.readable);
        visible.extend([places.program.clone(), checkout.to_owned()]);
        Confinement {
            home: places.home.clone(),
            agent_directory: places.agent_dir.clone(),
            writable: Vec::new(),
            private_agent_directory: None,
            widened: absolute(&sandbox.writable),
            hidden,
            visible,
            overlays: Vec::new(),
            // A gate asks no model.
            model_hosts: Vec::new(),
        }
    }
}

impl GateSandbox {
    /// Returns the same with the network of this machine, for the command that prepares a copy.
    pub(super) fn with_network(&self) -> Self {
        let sandbox = Sandbox {
            network: NetworkReach::Full,
            ..self.sandbox.clone()
        };
        Self {
            sandbox,
            ..self.clone()
        }
    }

    /// Returns the command that runs words in the sandbox, whose workspace is the copy at `top`, and
    /// the input of that command.
    pub(super) fn command(
        &self,
        top: &Path,
        words: Vec<String>,
        variables: &BTreeMap<OsString, OsString>,
    ) -> io::Result<(ProgramCommand, Vec<u8>)> {
        let confined = ConfinedCommand {
            program: self.program.clone(),
            name: CONFINE.to_owned(),
            sandbox: self.sandbox.clone(),
            confinement: self.confinement.clone(),
            cwd: top.to_owned(),
            words,
        };
        let command = ProgramCommand {
            program: self.program.clone(),
            arguments: [CONFINE, CONFINED_COMMAND].map(OsString::from).into(),
            environment: variables.clone(),
            directory: Some(top.to_owned()),
        };
        Ok((command, confined.to_bytes()?))
    }
}

/// Returns the sandbox of a run. Nobody knows what is in a record that cannot be read, so its run counts
/// as confined.
fn sandbox_of(directory: &RunDir) -> Sandbox {
    let unknown = || Sandbox {
        level: SandboxLevel::WorkspaceWrite,
        network: NetworkReach::None,
        ..Sandbox::default()
    };
    let recorded = RecordedRun::read(directory);
    recorded.map_or_else(|_| unknown(), |recorded| recorded.task.sandbox.clone())
}
