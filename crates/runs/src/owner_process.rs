//! Finds out whether the owner of a run is alive.

use pi_subagents_engine::ProcessName;
use pi_subagents_os::{Machine as _, System};
use pi_subagents_records::{IndexedRun, OwnerName};
use pi_subagents_vocabulary::Timestamp;

/// A type that names the owner of a run.
pub trait OwnerProcess {
    /// Returns the process of the owner, if it is on this machine.
    fn owner_process(&self) -> Option<ProcessName>;

    /// Returns whether somebody has stopped the owner (SIGSTOP), so that it answers nobody.
    fn is_owner_stopped(&self) -> bool {
        self.owner_process().is_some_and(ProcessName::is_stopped)
    }
}

impl OwnerProcess for OwnerName {
    fn owner_process(&self) -> Option<ProcessName> {
        (self.host == this_host()).then_some(ProcessName {
            pid: self.pid,
            start_time: self.start_time,
        })
    }
}

impl OwnerProcess for IndexedRun {
    fn owner_process(&self) -> Option<ProcessName> {
        self.owner.owner_process()
    }
}

/// Returns whether the owner of an open run still lives. An owner on another machine counts as
/// alive for a day, because this machine cannot know; a container that comes back under a new name
/// is another machine too.
pub fn is_owned(run: &IndexedRun) -> bool {
    is_alive(&run.owner, run.accepted_at)
}

/// Returns whether the fleet has a run whose follower is gone, as far as this machine knows.
pub fn is_left_in_fleet(owner: &OwnerName) -> bool {
    owner.fleet.is_some() && !owner.owner_process().is_some_and(ProcessName::is_alive)
}

/// Returns whether the owner of a run that was accepted at this time is still there. The end of a
/// run of a fleet is written by the process that catches up with it.
pub fn is_alive(owner: &OwnerName, accepted_at: Timestamp) -> bool {
    if owner.fleet.is_some() {
        // The fleet has it, and reports its end.
        return true;
    }
    if owner.host != this_host() {
        let age = Timestamp::now().duration_since(accepted_at);
        return age.as_hours() < 24;
    }
    ProcessName {
        pid: owner.pid,
        start_time: owner.start_time,
    }
    .is_alive()
}

pub fn this_host() -> String {
    System::host()
}
