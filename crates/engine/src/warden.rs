//! A process that outlives its owner until it has ended the processes that the owner's keepers
//! could not end: when keeper and owner are killed at the same moment, nobody else knows of their
//! children. See `docs/design/stopping.md`.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pi_subagents_os::{ProcessName, Processes as _, System, start};
use pi_subagents_vocabulary::Program;
use tracing::info;

use crate::known_children::HasProcess;
use crate::sweep::end_leftovers_of_owner;

/// The name of a warden's process. It differs from its owner's for the same reason as a keeper's.
const WARDEN_NAME: &str = "pisub-warden";

/// The time that the keepers of a dead owner have to end their trees in order.
const KEEPERS_TURN: Duration = Duration::from_millis(1300);

/// The time that a killed warden may take to be gone, and the pause between two looks.
const TO_EXIT: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The warden of this owner. When it is dropped, the owner has left in order.
#[derive(Debug)]
pub(crate) struct Warden(Child);

impl Warden {
    /// Starts the warden. Its stdin closes when the owner dies in any way.
    #[expect(
        clippy::disallowed_methods,
        reason = "the warden is a process of our own and no sub-agent"
    )]
    pub(crate) fn start(
        program: &Program,
        environment: &[(OsString, OsString)],
    ) -> io::Result<Self> {
        let mut warden = Command::new(&program.path);
        warden
            .arg0(WARDEN_NAME)
            .args(&program.arguments)
            .arg(ProcessName::of_this_process().mark())
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        start(&mut warden).map(Self)
    }
}

impl HasProcess for Warden {
    fn pid(&self) -> Option<u32> {
        Some(self.0.id())
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // The warden only waits, so it is killed; a warden that somebody stopped would not take a
        // farewell.
        _ = self.0.kill();
        let end = Instant::now() + TO_EXIT;
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Lives as the warden process of the owner with this mark.
pub fn ward(owner: &str) {
    // If the warden cannot change its name, it still does its work.
    _ = System::show_name(WARDEN_NAME);
    // Nobody ever writes to this pipe: it closes when the owner ends. An owner that leaves in order
    // has killed us before.
    _ = io::copy(&mut io::stdin(), &mut io::sink());
    info!(owner, "owner is gone");
    std::thread::sleep(KEEPERS_TURN);
    end_leftovers_of_owner(owner);
}
