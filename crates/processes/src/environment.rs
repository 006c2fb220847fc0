//! The environments of other processes, also of those that are about to become another program.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::Duration;

use crate::Stat;

/// How often, and how soon again, is looked at a process that becomes another program.
const LOOKS: u32 = 100;
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How much of an environment is read in one go.
const LARGE_ENVIRONMENT: usize = 128 << 10;

/// Tells whether a process has this `NAME=value` in its environment.
///
/// A process in the middle of becoming another program can hide from one look, though hardly from
/// two: who must not overlook any looks again.
pub fn carries(pid: u32, mark: &str) -> bool {
    environment(pid)
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

fn may_have_environment(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| stat.may_have_environment())
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

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::start_time;

    const MARK: &str = "PI_SUBAGENTS_TEST=of-this-test";

    #[expect(clippy::disallowed_methods, reason = "the test needs a process")]
    fn start(program: &str, arguments: &[&str]) -> Child {
        let (name, value) = MARK.split_once('=').unwrap();
        let mut command = Command::new(program);
        command.args(arguments).env(name, value).spawn().unwrap()
    }

    #[test]
    fn a_process_that_becomes_another_program_is_not_overlooked() {
        let again = [
            "-c",
            "exec /bin/sh -c \"$0\" \"$0\"",
            "exec /bin/sh -c \"$0\" \"$0\"",
        ];
        let mut restless = start("/bin/sh", &again);
        let is_seen = |_: &i32| (0..3).any(|_| carries(restless.id(), MARK));
        let seen = (0..1000).filter(is_seen).count();
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
        assert_eq!((is_waited_for, is_waited_for_when_dead), (false, false));
    }

    #[test]
    fn a_thread_of_the_kernel_has_no_environment() {
        // The first one, where they can be seen at all.
        assert!(!may_have_environment(2) || !environment(2).is_empty());
    }
}
