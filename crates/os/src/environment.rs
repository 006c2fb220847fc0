//! The environments of other processes, also of those that are about to become another program.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::Duration;

use crate::{Stat, all_processes};

/// The number of looks, with a pause after each, at processes that are becoming other programs.
const LOOKS: u32 = 100;
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The number of bytes of an environment that are read in one go.
const LARGE_ENVIRONMENT: usize = 128 << 10;

/// Returns whether a process has this `NAME=value` in its environment.
///
/// A process in the middle of becoming another program can hide from one look, though hardly from
/// two: a caller that must not overlook any looks again.
pub fn carries(pid: u32, mark: &str) -> bool {
    let mut looker = Looker::new(vec![mark.to_owned()]);
    for _ in 0..LOOKS {
        match looker.look(pid) {
            Look::Unsure => std::thread::sleep(LOOK_AGAIN),
            look => return look == Look::Carries,
        }
    }
    false
}

/// Calls `on_sight` with each process that has one of these `NAME=value` in its environment. The
/// youngest process comes first, because a process that forks without end is gone a moment later.
///
/// All processes that are about to become other programs are waited for together, so the time this
/// takes does not depend on their number.
pub fn for_each_carrier(marks: Vec<String>, mut on_sight: impl FnMut(u32)) {
    let mut looker = Looker::new(marks);
    let mut left: Vec<u32> = all_processes().collect();
    left.sort_unstable_by(|one, other| other.cmp(one));
    for _ in 0..LOOKS {
        left.retain(|pid| match looker.look(*pid) {
            Look::Carries => {
                on_sight(*pid);
                false
            }
            Look::Unsure => true,
            Look::No => false,
        });
        if left.is_empty() {
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Look {
    Carries,
    No,
    /// The process has no environment, or the beginning of one, for a moment while it becomes
    /// another program.
    Unsure,
}

/// Looks at many processes with one piece of memory.
struct Looker {
    marks: Vec<String>,
    variables: Vec<u8>,
}

impl Looker {
    fn new(marks: Vec<String>) -> Self {
        Self {
            marks,
            variables: Vec::with_capacity(LARGE_ENVIRONMENT),
        }
    }

    fn look(&mut self, pid: u32) -> Look {
        if self.read(pid).is_err() {
            return Look::No;
        }
        if self.has_mark() {
            return Look::Carries;
        }
        if self.variables.ends_with(&[0]) {
            return Look::No;
        }
        if self.is_overwritten(pid) {
            return Look::No;
        }
        match Stat::read(pid) {
            Some(stat) if stat.may_have_environment() => Look::Unsure,
            Some(_) | None => Look::No,
        }
    }

    fn has_mark(&self) -> bool {
        self.variables
            .split(|byte| *byte == 0)
            .any(|variable| self.marks.iter().any(|mark| mark.as_bytes() == variable))
    }

    /// Returns whether a process has written something else in the place of its environment, as
    /// servers do to show their state. Two looks that find the same bytes mean that, because a
    /// process that becomes another program shows nothing for a moment.
    fn is_overwritten(&mut self, pid: u32) -> bool {
        let before = std::mem::take(&mut self.variables);
        let is_same = self.read(pid).is_ok() && !before.is_empty() && self.variables == before;
        is_same && !self.has_mark()
    }

    /// Reads in one go if possible: between two reads the process may become another program, and
    /// the rest would be missing.
    fn read(&mut self, pid: u32) -> io::Result<()> {
        let mut file = File::open(format!("/proc/{pid}/environ"))?;
        self.variables.resize(LARGE_ENVIRONMENT, 0);
        let read = file.read(&mut self.variables)?;
        self.variables.truncate(read);
        if read == LARGE_ENVIRONMENT {
            file.read_to_end(&mut self.variables)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::start_time;

    fn may_have_environment(pid: u32) -> bool {
        Stat::read(pid).is_some_and(|stat| stat.may_have_environment())
    }

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
    fn what_overwrote_its_environment_is_not_waited_for() {
        // The shell of this test cannot do that, so its place is taken by looks that find the same.
        let mut looker = Looker::new(vec![MARK.to_owned()]);
        let own = std::process::id();
        looker.read(own).unwrap();
        assert!(looker.is_overwritten(own));
        looker.variables = b"title".to_vec();
        assert!(!looker.is_overwritten(own));
    }

    #[test]
    fn all_carriers_are_seen_in_one_pass() {
        let mut started = [(); 3].map(|()| start("/bin/sleep", &["1000"]));
        let mut wanted = started.each_ref().map(Child::id);
        // A process that is still becoming its program would be seen later than the others.
        for pid in wanted {
            while !carries(pid, MARK) {}
        }
        let mut seen = Vec::new();
        for_each_carrier(vec!["A=b".to_owned(), MARK.to_owned()], |pid| {
            seen.push(pid);
        });
        seen.retain(|pid| wanted.contains(pid));
        for child in &mut started {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        wanted.sort_unstable_by(|one, other| other.cmp(one));
        assert_eq!(seen, wanted);
    }
}
