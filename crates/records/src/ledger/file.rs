//! The file of one ledger.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{self as files, HeldLock};
use pi_subagents_vocabulary::{Ledger, LedgerEntry};

/// The time for which we wait for others that write to a ledger, which takes each of them
/// milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A ledger is not read beyond this; an answer takes some 150 bytes.
const LARGEST: u64 = 256 << 20;

/// A ledger, as far as this process has read its file.
#[derive(Debug, Default)]
pub(super) struct KnownLedger {
    pub(super) ledger: Ledger,
    /// The place after the last whole line that was read.
    place: u64,
}

/// The file of a ledger, which nobody else writes to while this is held.
#[derive(Debug)]
pub(super) struct HeldLedger {
    path: PathBuf,
    lock: HeldLock,
}

impl HeldLedger {
    /// Waits until nobody else writes, and reads what was added.
    pub(super) fn hold(path: &Path, known: &mut KnownLedger) -> io::Result<Self> {
        let held = Self {
            path: path.to_owned(),
            lock: HeldLock::alone(files::append_own(path)?, path, PATIENCE)
                .map_err(io::Error::other)?,
        };
        let torn = known.read_on(path)?;
        if torn > 0 {
            // Its writer was killed in the middle of a line, and nobody else writes now.
            held.lock.file().set_len(known.place)?;
        }
        Ok(held)
    }

    /// Adds entries in one write, and applies them.
    pub(super) fn add(&self, known: &mut KnownLedger, entries: &[LedgerEntry]) -> io::Result<()> {
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry)?;
            lines.push(b'\n');
        }
        let mut file = self.lock.file();
        file.write_all(&lines)
            .map_err(|error| self.explained(&error))?;
        known.place += lines.len() as u64;
        for entry in entries {
            known.ledger.apply(entry);
        }
        Ok(())
    }

    fn explained(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
    }
}

impl KnownLedger {
    /// Reads the lines that were added, and returns how many bytes of a torn line come after them.
    /// A line that is no entry fails: what it stood for cannot be counted.
    pub(super) fn read_on(&mut self, path: &Path) -> io::Result<usize> {
        let mut file = files::open_own(path)?;
        let length = file.metadata()?.len();
        if length > LARGEST {
            let problem = format!("{} is larger than {LARGEST} bytes", path.display());
            return Err(io::Error::other(problem));
        }
        if length < self.place {
            // Somebody has put another file in its place.
            *self = Self::default();
        }
        file.seek(SeekFrom::Start(self.place))?;
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |last| last + 1);
        let (lines, torn) = bytes.split_at(whole);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let entry = serde_json::from_slice(line).map_err(|error| {
                let place = self.place;
                let problem = format!("{} at byte {place}: {error}", path.display());
                io::Error::new(io::ErrorKind::InvalidData, problem)
            })?;
            self.ledger.apply(&entry);
            self.place += line.len() as u64;
        }
        Ok(torn.len())
    }
}
