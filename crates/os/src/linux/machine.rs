//! The machine.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::system::uname;
use rustix::time::{ClockId, clock_gettime};

use super::control_group;
use crate::{Machine, ProcessName, Processes as _, System, SystemFacts};

/// Returns the bytes that `/proc/meminfo` calls available.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

impl Machine for System {
    const OPENER: &'static str = "xdg-open";

    const TEMPORARY: &'static [&'static str] = &["/tmp", "/var/tmp", "/dev/shm"];

    fn since_boot() -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        let nanoseconds = u32::try_from(now.tv_nsec).unwrap_or_default();
        Duration::new(seconds, nanoseconds)
    }

    fn hide_this_process() -> io::Result<()> {
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }

    fn host() -> String {
        uname().nodename().to_string_lossy().into_owned()
    }

    /// The kernel gives up to 256 bytes in one piece, or none.
    fn random(bytes: &mut [u8; 8]) -> io::Result<()> {
        getrandom(bytes, GetRandomFlags::empty())?;
        Ok(())
    }

    fn free_memory() -> Option<u64> {
        let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
        let machine = available(&meminfo)?;
        Some(control_group::free_memory().map_or(machine, |group| group.min(machine)))
    }

    fn facts() -> SystemFacts {
        let system = uname();
        let release = system.release().to_string_lossy();
        let machine = system.machine().to_string_lossy();
        let own = ProcessName::of_this_process();
        SystemFacts {
            name: format!("Linux {release} on {machine}"),
            features: vec![
                ("/proc", fs::metadata("/proc/self/stat").is_ok()),
                ("pidfd", System::exit_of(own).is_ok()),
                ("subreaper", System::adopt_orphans().is_ok()),
                ("inotify", inotify::init(CreateFlags::CLOEXEC).is_ok()),
            ],
            advice: "pi-subagents needs Linux 5.3 or newer, with /proc mounted and without a sandbox that forbids these system calls.",
        }
    }
}
