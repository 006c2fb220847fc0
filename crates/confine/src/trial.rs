//! Finds out what this machine can do, by trying it: a sandbox is made, and a process in it tries to
//! write and to read what it must not. The version of a kernel says too little.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, System};
use pi_subagents_vocabulary::{Confinement, NetworkReach, Sandbox, SandboxLevel};
use serde::{Deserialize, Serialize};

use crate::client::{NotStarted, start_confined};
use crate::order::ConfineOrder;

/// Changes when the result of an old trial says too little.
const EDITION: u32 = 2;

/// A trial that did not show everything is made again after this time: its reason may have passed.
const PATIENCE: Duration = Duration::from_mins(10);

/// What a trial showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SandboxTrial {
    /// Every level can be had.
    All {
        /// The number of the Landlock interface.
        landlock: u32,
    },
    /// Only `read-only` can be had, by Landlock, because namespaces are refused.
    ReadOnly {
        /// Why.
        reason: String,
    },
    /// No level can be had.
    Nothing {
        /// Why.
        reason: String,
    },
}

impl SandboxTrial {
    /// Returns whether a sandbox can be had here.
    pub fn allows(&self, level: SandboxLevel, network: &NetworkReach) -> bool {
        match (self, level) {
            (_, SandboxLevel::Off) | (Self::All { .. }, _) => true,
            (Self::ReadOnly { .. }, SandboxLevel::ReadOnly) => !network.tools_may_use_gateway(),
            (Self::ReadOnly { .. }, SandboxLevel::WorkspaceWrite) | (Self::Nothing { .. }, _) => {
                false
            }
        }
    }
}

/// A trial that is kept until the machine is started again or the program is another one.
#[derive(Serialize, Deserialize)]
struct KeptTrial {
    place: TrialPlace,
    trial: SandboxTrial,
}

/// The place for which a trial holds. A container may share files with its host, and allow less.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct TrialPlace {
    edition: u32,
    boot: String,
    namespaces: Vec<PathBuf>,
    seccomp: String,
    program: PathBuf,
    modified: u128,
}

impl TrialPlace {
    /// Describes the place of this process; `None` if it cannot be told from others.
    fn find(program: &Path) -> Option<Self> {
        let modified = fs::metadata(program).ok()?.modified().ok()?;
        let age = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespaces = ["user", "mnt"].map(|kind| fs::read_link(format!("/proc/self/ns/{kind}")));
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let seccomp = status.lines().find(|line| line.starts_with("Seccomp:"));
        Some(Self {
            edition: EDITION,
            boot: boot.trim().to_owned(),
            namespaces: namespaces.into_iter().collect::<Result<_, _>>().ok()?,
            seccomp: seccomp.unwrap_or_default().to_owned(),
            program: program.to_owned(),
            modified: age.as_millis(),
        })
    }
}

/// Tries sandboxes with our binary and its hidden command, or returns what an earlier trial showed.
/// The result is kept in a file; a file that cannot be written costs a trial each time.
pub fn try_sandbox(program: &Path, command: &str, kept: &Path) -> SandboxTrial {
    let Some(place) = TrialPlace::find(program) else {
        return try_now(program, command);
    };
    if let Some(trial) = kept_trial(kept, &place) {
        return trial;
    }
    let trial = try_now(program, command);
    let result = KeptTrial {
        place,
        trial: trial.clone(),
    };
    if let Ok(text) = serde_json::to_vec(&result) {
        // The next trial takes some milliseconds.
        _ = fs::write(kept, text);
    }
    trial
}

/// Tries sandboxes and keeps nothing of it.
pub fn try_sandbox_once(program: &Path, command: &str) -> SandboxTrial {
    try_now(program, command)
}

/// Returns what an earlier trial in this place showed, if that still counts.
fn kept_trial(kept: &Path, place: &TrialPlace) -> Option<SandboxTrial> {
    let earlier: KeptTrial = serde_json::from_slice(&fs::read(kept).ok()?).ok()?;
    let counts = match &earlier.trial {
        SandboxTrial::All { .. } => true,
        SandboxTrial::ReadOnly { .. } | SandboxTrial::Nothing { .. } => {
            let written = fs::metadata(kept).ok()?.modified().ok()?;
            written.elapsed().is_ok_and(|age| age < PATIENCE)
        }
    };
    (counts && earlier.place == *place).then_some(earlier.trial)
}

fn try_now(program: &Path, command: &str) -> SandboxTrial {
    let nothing = |reason: String| SandboxTrial::Nothing { reason };
    let stage = match TrialStage::make() {
        Ok(stage) => stage,
        Err(error) => return nothing(format!("no directory for a trial could be made: {error}")),
    };
    match stage.try_level(program, command, SandboxLevel::WorkspaceWrite) {
        Ok(landlock) => SandboxTrial::All { landlock },
        Err(reason) => match stage.try_level(program, command, SandboxLevel::ReadOnly) {
            Ok(_) => SandboxTrial::ReadOnly { reason },
            Err(_) => nothing(reason),
        },
    }
}

/// A few directories among the temporary files.
struct TrialStage {
    root: PathBuf,
}

impl TrialStage {
    fn make() -> io::Result<Self> {
        use pi_subagents_os::Machine as _;
        let mut bytes = [0; 8];
        System::random(&mut bytes)?;
        let name = format!("pi-subagents-trial-{:016x}", u64::from_ne_bytes(bytes));
        let root = fs::canonicalize(std::env::temp_dir())?.join(name);
        fs::create_dir(&root)?;
        let stage = Self { root };
        for directory in ["home/.ssh", "home/agent", "project", "child"] {
            fs::create_dir_all(stage.root.join(directory))?;
        }
        fs::write(stage.root.join("home/.ssh/key"), "key")?;
        fs::write(stage.root.join("home/file"), "file")?;
        Ok(stage)
    }

    /// Makes a sandbox and tries to leave it. Returns the Landlock interface, or why the sandbox
    /// cannot be had.
    fn try_level(&self, program: &Path, command: &str, level: SandboxLevel) -> Result<u32, String> {
        let inside = match level {
            SandboxLevel::WorkspaceWrite => "echo x > file",
            SandboxLevel::ReadOnly | SandboxLevel::Off => "! echo x > file",
        };
        let script = format!(
            "{inside} || exit 11; ! echo x > ../home/file || exit 12; \
             ! grep -q key ../home/.ssh/key || exit 13; echo x > ../child/file || exit 14; exit 10"
        );
        let sandbox = Sandbox {
            level,
            network: NetworkReach::None,
            ..Sandbox::default()
        };
        let words = ["/bin/sh", "-c", &script].map(OsString::from);
        let order = ConfineOrder::new(sandbox, self.places(), self.root.join("project"), &words);
        let (stdin, _) = System::pipe().map_err(|error| error.to_string())?;
        let started = start_confined(process(program, command), &order, &stdin);
        let mut started = started.map_err(|refusal| match refusal {
            NotStarted::NotConfined(reason) => reason,
            NotStarted::NotExecuted(error) => error.to_string(),
        })?;
        let status = started.child.wait().map_err(|error| error.to_string())?;
        match status.code() {
            Some(10) => Ok(started.seal.landlock),
            Some(11) => Err("the trial could not write where it may".to_owned()),
            Some(12) => Err("the trial could write where it must not".to_owned()),
            Some(13) => Err("the trial could read what is hidden".to_owned()),
            _ => Err(format!("the trial ended with {status}")),
        }
    }

    fn places(&self) -> Confinement {
        let home = self.root.join("home");
        Confinement {
            agent_directory: home.join("agent"),
            writable: vec![self.root.join("child")],
            widened: Vec::new(),
            hidden: vec![home.join(".ssh")],
            visible: Vec::new(),
            overlays: Vec::new(),
            private_agent_directory: None,
            model_hosts: Vec::new(),
            home,
        }
    }
}

impl Drop for TrialStage {
    fn drop(&mut self) {
        // What is left is small, and among the temporary files.
        _ = fs::remove_dir_all(&self.root);
    }
}

fn process(program: &Path, command: &str) -> Command {
    let mut process = Command::new(program);
    process
        .arg(command)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    process
}
