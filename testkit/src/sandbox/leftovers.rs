//! Processes that a test has left in its sandbox: detached runs of a test that failed, and those of a
//! test program that was killed. A process belongs to a sandbox by its `HOME`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use rustix::process::Signal;

use crate::process;
use crate::wait::wait_until;

/// The file in a sandbox that names its test program.
const OWNER: &str = "test-program";

/// The time within which killed processes are gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes down to which test program a sandbox belongs. Whoever makes the first sandbox of a program
/// ends what earlier programs have left.
pub(super) fn claim(root: &Path) {
    static SWEEP: Once = Once::new();
    SWEEP.call_once(end_orphans);
    let id = std::process::id().to_string();
    fs::write(root.join(OWNER), id).expect("the file that names the test program");
}

/// Ends all processes of a sandbox. A process may start another one meanwhile, so they are looked for
/// until there are none.
pub(super) fn end_all(root: &Path) {
    let home = root.join("home");
    // What cannot be ended in time is left to the next test program.
    _ = wait_until(PATIENCE, || {
        let left: Vec<u32> = at_home_in_sandboxes()
            .into_iter()
            .filter(|(_, of)| *of == home)
            .map(|(pid, _)| pid)
            .collect();
        for pid in &left {
            process::kill(*pid, Signal::KILL);
        }
        left.is_empty().then_some(())
    });
}

/// Ends the processes of sandboxes whose test program is gone. A directory that names no test program is
/// somebody else's, whatever its name is.
fn end_orphans() {
    for (pid, home) in at_home_in_sandboxes() {
        if owner_of(&home).is_some_and(|owner| !process::exists(owner)) {
            process::kill(pid, Signal::KILL);
        }
    }
}

/// Returns the test program that has made the sandbox of a home.
fn owner_of(home: &Path) -> Option<u32> {
    let id = fs::read_to_string(home.parent()?.join(OWNER)).ok()?;
    id.trim().parse().ok()
}

/// Returns the processes that have the home directory of a sandbox, with that directory.
fn at_home_in_sandboxes() -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, home_of(pid)?)))
        .filter(|(pid, home)| home.starts_with("/tmp") && is_sandbox(home) && process::exists(*pid))
        .collect()
}

fn is_sandbox(home: &Path) -> bool {
    let root = home.parent().and_then(Path::file_name);
    home.ends_with("home") && root.is_some_and(|name| name.as_encoded_bytes().starts_with(b"pi-"))
}

/// Returns the home directory in the environment with which a process was started.
fn home_of(pid: u32) -> Option<PathBuf> {
    let variables = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let home = variables
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(b"HOME="))?;
    Some(PathBuf::from(String::from_utf8_lossy(home).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Sandbox;

    #[test]
    fn a_home_that_no_test_program_has_made_is_somebody_elses() {
        let directory = tempfile::Builder::new().prefix("pi-").tempdir().unwrap();
        let home = directory.path().join("home");
        let mut sleep = std::process::Command::new("sleep")
            .arg("1000")
            .env("HOME", &home)
            .spawn()
            .unwrap();
        end_orphans();
        assert!(sleep.try_wait().unwrap().is_none());
        sleep.kill().unwrap();
        sleep.wait().unwrap();
    }

    #[test]
    fn a_sandbox_ends_the_processes_of_its_home_and_no_others() {
        let (first, second) = (Sandbox::new(), Sandbox::new());
        let sleep = |sandbox: &Sandbox| {
            let script = "setsid sleep 1000 >/dev/null 2>&1 & echo $!";
            let output = sandbox
                .command(Path::new("/bin/sh"))
                .args(["-c", script])
                .run();
            output.stdout.trim().parse::<u32>().expect("a process id")
        };
        let (ours, other) = (sleep(&first), sleep(&second));
        assert!(process::exists(ours) && process::exists(other));
        drop(first);
        assert!(!process::exists(ours));
        assert!(process::exists(other));
        drop(second);
        assert!(!process::exists(other));
    }
}
