//! Finds processes by the marks in their environments, also those that are about to become another
//! program.

use std::time::Duration;

use crate::{Mark, MarkReader, Marks as _, Processes as _, System};

/// The number of looks, with a pause after each, at processes that are becoming other programs.
const LOOKS: u32 = 100;
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Returns whether a process has this `NAME=value` in its environment.
///
/// A process in the middle of becoming another program can hide from one look, though hardly from
/// two: a caller that must not overlook any looks again.
///
/// A process whose environment the system hides counts as one without the mark. It belongs to
/// another user, so that we could not end it, or has protected itself. Such a process of a run is
/// found as a child of its keeper and in the control group of the run, never by a mark.
pub fn carries(pid: u32, mark: &str) -> bool {
    let mut reader = MarkReader::of(vec![mark.to_owned()]);
    for _ in 0..LOOKS {
        match reader.look(pid) {
            Mark::Unsure => std::thread::sleep(LOOK_AGAIN),
            Mark::Carried => return true,
            Mark::Missing | Mark::Hidden => return false,
        }
    }
    false
}

/// Calls `on_sight` with each process that has one of these `NAME=value` in its environment. The
/// youngest process comes first, because a process that forks without end is gone a moment later.
/// A process whose environment is hidden from us does not count, as in [`carries`].
///
/// All processes that are about to become other programs are waited for together, so the time this
/// takes does not depend on their number.
pub fn for_each_carrier(marks: Vec<String>, mut on_sight: impl FnMut(u32)) {
    let mut reader = MarkReader::of(marks);
    let mut left = System::all();
    left.sort_unstable_by(|one, other| other.cmp(one));
    for _ in 0..LOOKS {
        left.retain(|pid| match reader.look(*pid) {
            Mark::Carried => {
                on_sight(*pid);
                false
            }
            Mark::Unsure => true,
            Mark::Missing | Mark::Hidden => false,
        });
        if left.is_empty() {
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    const MARK: &str = "PI_SUBAGENTS_TEST=of-this-test";

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
