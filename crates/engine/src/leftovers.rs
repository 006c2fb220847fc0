//! What is left of a run when its keeper is gone, and how it is found: every process of a run
//! carries the run's mark in its environment.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::time::Duration;

use pi_subagents_delegation::RunId;
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::keeper::{ProcessTree, all_processes, may_have_environment, start_time};

/// The variable that names the run.
pub(crate) const RUN_MARK: &str = "PI_SUBAGENTS_RUN";

/// The variable that names the owner of the run.
pub(crate) const OWNER_MARK: &str = "PI_SUBAGENTS_OWNER";

/// The variables by which processes of runs are known: who is of no run must not have them.
pub const MARKS: [&str; 2] = [RUN_MARK, OWNER_MARK];

/// How soon is looked again: a process may fork while it is being killed.
const SWEEP_AGAIN: Duration = Duration::from_millis(5);

/// How often at most: a process that is not ours to kill would keep us here for ever.
const SWEEPS: u32 = 1000;

/// How often, and how soon again, is looked at a process that becomes another program.
const LOOKS: u32 = 100;
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How much of an environment is read in one go.
const LARGE_ENVIRONMENT: usize = 128 << 10;

/// How often in a row nothing must be found: a process in the middle of becoming another program
/// can hide from one look.
const SWEEPS_IN_VAIN: u32 = 3;

/// A process, named so that a newcomer with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessName {
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since boot.
    pub start_time: u64,
}

impl ProcessName {
    /// The name of the process we are.
    pub fn of_this_process() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: start_time(pid).unwrap_or_default(),
        }
    }

    /// What its runs are marked with.
    pub(crate) fn mark(self) -> String {
        format!("{}-{}", self.pid, self.start_time)
    }

    /// Tells whether it still lives.
    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.start_time)
    }
}

/// Kills whatever still carries the mark of this run, and its descendants; returns when nothing
/// does, with how many were killed.
pub fn end_leftovers(run: &RunId) -> usize {
    end_marked(&format!("{RUN_MARK}={run}"))
}

/// Kills whatever carries this mark, and its descendants, until nothing does.
pub(crate) fn end_marked(mark: &str) -> usize {
    let mut killed = HashSet::new();
    let mut in_vain = 0;
    for _ in 0..SWEEPS {
        let marked: Vec<u32> = all_processes().filter(|pid| carries(*pid, mark)).collect();
        in_vain = if marked.is_empty() { in_vain + 1 } else { 0 };
        if in_vain == SWEEPS_IN_VAIN {
            break;
        }
        let tree = ProcessTree::look();
        for pid in marked {
            for process in tree.descendants(pid).into_iter().chain([pid]) {
                if tree.signal(process, Signal::KILL) {
                    killed.insert(process);
                }
            }
            reap(pid);
        }
        std::thread::sleep(SWEEP_AGAIN);
    }
    killed.len()
}

fn carries(pid: u32, mark: &str) -> bool {
    pid != std::process::id()
        && environment(pid)
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
}

/// The environment of a process. It has none, or the beginning of one, for a moment while it
/// becomes another program, so it is looked at again then.
fn environment(pid: u32) -> Vec<u8> {
    for _ in 0..LOOKS {
        match read_environment(pid) {
            Ok(variables) if !variables.ends_with(&[0]) && may_have_environment(pid) => {
                std::thread::sleep(LOOK_AGAIN);
            }
            Ok(variables) => return variables,
            Err(_) => break,
        }
    }
    Vec::new()
}

/// Reads in one go where it can: between two reads the process may become another program, and
/// the rest would be missing.
fn read_environment(pid: u32) -> io::Result<Vec<u8>> {
    let mut file = File::open(format!("/proc/{pid}/environ"))?;
    let mut variables = vec![0; LARGE_ENVIRONMENT];
    let read = file.read(&mut variables)?;
    variables.truncate(read);
    if read == LARGE_ENVIRONMENT {
        file.read_to_end(&mut variables)?;
    }
    Ok(variables)
}

/// Reaps a process that became our child when its keeper was killed; one that is not our child
/// is reaped by its own parent.
pub(crate) fn reap(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        _ = waitpid(Some(pid), WaitOptions::empty());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Child, Command};

    use super::*;

    const MARK: &str = "PI_SUBAGENTS_RUN=of-this-test";

    #[expect(clippy::disallowed_methods, reason = "the test needs a process")]
    fn start(program: &str, arguments: &[&str]) -> Child {
        let (name, value) = MARK.split_once('=').unwrap();
        let mut command = Command::new(program);
        command.args(arguments).env(name, value).spawn().unwrap()
    }

    #[test]
    fn a_process_that_becomes_another_program_is_not_overlooked() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("again");
        fs::write(&script, "#!/bin/sh\nexec \"$0\"\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        let mut restless = start("/bin/sh", &[script.to_str().unwrap()]);
        let is_seen = |_| (0..SWEEPS_IN_VAIN).any(|_| carries(restless.id(), MARK));
        let seen = (0..1000).filter(|look| is_seen(*look)).count();
        restless.kill().unwrap();
        restless.wait().unwrap();
        assert_eq!(seen, 1000);
    }

    #[test]
    fn what_has_no_environment_is_not_waited_for() {
        let mut bare = start("/usr/bin/env", &["-i", "/bin/sleep", "1000"]);
        while carries(bare.id(), MARK) {}
        let is_waited_for = may_have_environment(bare.id());
        bare.kill().unwrap();
        while start_time(bare.id()).is_some() {}
        let is_waited_for_when_dead = may_have_environment(bare.id());
        bare.wait().unwrap();
        assert!(!is_waited_for && !is_waited_for_when_dead);
        // The first kernel thread, where they can be seen at all.
        assert!(!may_have_environment(2) || !environment(2).is_empty());
    }
}
