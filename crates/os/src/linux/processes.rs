//! Single processes, by `/proc` and pidfds.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use rustix::io::Errno;
use rustix::process::{
    PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper,
};

use super::stat::Stat;
use super::waitable;
use crate::name::raw;
use crate::{Adoption, ProcessLook, ProcessName, Processes, System};

impl Processes for System {
    fn look(pid: u32) -> Option<ProcessLook> {
        Stat::read(pid).map(|stat| stat.look)
    }

    fn all() -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten();
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect()
    }

    /// Reads the lists that the kernel keeps for each thread of a process, which is much faster than
    /// a look at all processes.
    fn listed_children(pid: u32) -> Option<Vec<u32>> {
        static IS_LISTED: LazyLock<bool> =
            LazyLock::new(|| fs::exists("/proc/thread-self/children").unwrap_or(false));
        if !*IS_LISTED {
            return None;
        }
        let threads = fs::read_dir(format!("/proc/{pid}/task"));
        let lists = threads.into_iter().flatten().flatten().map(|thread| {
            // A thread may have ended meanwhile.
            fs::read_to_string(thread.path().join("children")).unwrap_or_default()
        });
        let children = lists.flat_map(|list| {
            let numbers = list.split_whitespace().flat_map(str::parse);
            numbers.collect::<Vec<u32>>()
        });
        Some(children.collect())
    }

    /// The descriptor pins the process, and the start time is compared after that.
    fn signal(process: ProcessName, signal: Signal) -> bool {
        let descriptor = pidfd(process.pid);
        descriptor.is_ok_and(|descriptor| {
            process.is_alive() && pidfd_send_signal(descriptor, signal).is_ok()
        })
    }

    /// As for a signal, the start time is compared when the descriptor pins the process.
    fn exit_of(process: ProcessName) -> io::Result<Option<OwnedFd>> {
        let descriptor = match pidfd(process.pid) {
            Err(Errno::SRCH) => return Ok(None),
            other => other?,
        };
        Ok(process.is_alive().then_some(descriptor))
    }

    async fn exited(process: ProcessName) -> io::Result<()> {
        match Self::exit_of(process)? {
            Some(exit) => waitable(exit)?.readable().await,
            None => Ok(()),
        }
    }

    /// The kernel keeps at most 15 characters of it.
    fn shown_name(pid: u32) -> Option<String> {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(name.trim_end_matches('\n').to_owned())
    }

    fn show_name(name: &str) -> io::Result<()> {
        fs::write("/proc/self/comm", name)
    }

    fn adopt_orphans() -> io::Result<Adoption> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Adoption::Ours)
    }
}

fn pidfd(pid: u32) -> Result<OwnedFd, Errno> {
    pidfd_open(raw(pid).ok_or(Errno::SRCH)?, PidfdFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    #[test]
    fn we_are_a_child_of_our_parent() {
        let own = std::process::id();
        let parent = System::look(own).unwrap().parent;
        let is_listed = |children: Vec<u32>| children.contains(&own);
        assert!(System::listed_children(parent).is_none_or(is_listed));
        let nobodys = System::listed_children(u32::MAX);
        assert!(nobodys.is_none_or(|children| children.is_empty()));
    }

    #[test]
    fn a_process_has_a_name_while_it_is_there() {
        assert!(System::shown_name(std::process::id()).is_some_and(|name| !name.is_empty()));
        assert_eq!(System::shown_name(u32::MAX), None);
    }

    #[test]
    fn an_exit_is_seen_and_stays_seen() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let name = ProcessName::of(child.id());
        let exit = System::exit_of(name).unwrap().unwrap();
        child.kill().unwrap();
        for _ in 0..2 {
            let mut waited = [PollFd::new(&exit, PollFlags::IN)];
            poll(&mut waited, None).unwrap();
            assert!(waited[0].revents().contains(PollFlags::IN));
        }
        // It is dead, whether it is reaped or not.
        assert!(System::exit_of(name).unwrap().is_none());
        child.wait().unwrap();
        assert!(System::exit_of(name).unwrap().is_none());
    }
}
