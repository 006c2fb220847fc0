//! A process that outlives its owner for as long as it takes to end what the owner's keepers
//! could not: when keeper and owner are killed at the same moment, nobody else is left who knows
//! of their children. See `docs/design/stopping.md`.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pi_subagents_delegation::Program;

use crate::leftovers::{OWNER_MARK, ProcessName, end_marked};
use crate::own_children::HasProcess;

/// How long the keepers of a dead owner have to end their trees in order.
const KEEPERS_TURN: Duration = Duration::from_millis(1300);

/// The warden of this owner. When it is dropped, the owner has left in order.
#[derive(Debug)]
pub(crate) struct Warden(Child);

impl Warden {
    /// Starts the warden. Its stdin closes when the owner dies in any way.
    #[expect(
        clippy::disallowed_methods,
        reason = "the warden is a process of our own and no sub-agent"
    )]
    pub(crate) fn start(program: &Program) -> io::Result<Self> {
        Command::new(&program.path)
            .args(&program.arguments)
            .arg(ProcessName::of_this_process().mark())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Self)
    }
}

impl HasProcess for Warden {
    fn pid(&self) -> Option<u32> {
        Some(self.0.id())
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // A warden that is gone needs no farewell.
        if let Some(mut stdin) = self.0.stdin.take() {
            _ = stdin.write_all(b".");
        }
        _ = self.0.wait();
    }
}

/// The life of a warden process, for the owner with this mark.
pub fn ward(owner: &str) {
    let mut farewell = [0];
    if io::stdin().read(&mut farewell).is_ok_and(|read| read > 0) {
        return;
    }
    std::thread::sleep(KEEPERS_TURN);
    end_marked(&format!("{OWNER_MARK}={owner}"));
}
