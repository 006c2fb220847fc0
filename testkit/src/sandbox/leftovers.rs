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

/// Ends the processes of sandboxes whose test program is gone.
fn end_orphans() {
    for (pid, home) in at_home_in_sandboxes() {
        let owner = home.parent().map(|root| root.join(OWNER));
        let owner = owner.and_then(|file| fs::read_to_string(file).ok());
        let owner = owner.and_then(|id| id.trim().parse().ok());
        if !owner.is_some_and(process::exists) {
            process::kill(pid, Signal::KILL);
        }
    }
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
