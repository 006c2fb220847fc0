//! The marks of processes, read from their environments in `/proc`.

use std::fs::File;
use std::io::{self, Read as _};

use super::stat::Stat;
use crate::{Mark, Marks};

/// The number of bytes of an environment that are read in one go.
const LARGE_ENVIRONMENT: usize = 128 << 10;

/// Looks at many processes with one piece of memory.
#[derive(Debug)]
pub struct MarkReader {
    marks: Vec<String>,
    variables: Vec<u8>,
}

impl Marks for MarkReader {
    fn of(marks: Vec<String>) -> Self {
        Self {
            marks,
            variables: Vec::with_capacity(LARGE_ENVIRONMENT),
        }
    }

    fn look(&mut self, pid: u32) -> Mark {
        match self.read(pid) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Mark::Hidden,
            // The process is gone, or has no memory any more.
            Err(_) => return Mark::Missing,
        }
        if self.has_mark() {
            return Mark::Carried;
        }
        if self.variables.ends_with(&[0]) {
            return Mark::Missing;
        }
        if self.is_overwritten(pid) {
            return Mark::Missing;
        }
        match Stat::read(pid) {
            Some(stat) if stat.may_have_environment() => Mark::Unsure,
            Some(_) | None => Mark::Missing,
        }
    }
}

impl MarkReader {
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
    use std::process::Command;

    use super::*;

    const MARK: &str = "PI_SUBAGENTS_TEST=bare";

    fn may_have_environment(pid: u32) -> bool {
        Stat::read(pid).is_some_and(|stat| stat.may_have_environment())
    }

    #[test]
    fn what_has_no_environment_is_not_waited_for() {
        let mut command = Command::new("/usr/bin/env");
        let command = command.args(["-i", "/bin/sleep", "1000"]);
        let mut bare = command.env("PI_SUBAGENTS_TEST", "bare").spawn().unwrap();
        while MarkReader::of(vec![MARK.to_owned()]).look(bare.id()) != Mark::Missing {}
        let is_waited_for = may_have_environment(bare.id());
        bare.kill().unwrap();
        while crate::ProcessName::of_living(bare.id()).is_some() {}
        let is_waited_for_when_dead = may_have_environment(bare.id());
        bare.wait().unwrap();
        assert_eq!((is_waited_for, is_waited_for_when_dead), (false, false));
    }

    #[test]
    fn what_overwrote_its_environment_is_not_waited_for() {
        // The shell of this test cannot do that, so its place is taken by looks that find the same.
        let mut reader = MarkReader::of(vec![MARK.to_owned()]);
        let own = std::process::id();
        reader.read(own).unwrap();
        assert!(reader.is_overwritten(own));
        reader.variables = b"title".to_vec();
        assert!(!reader.is_overwritten(own));
    }
}
