//! Reads the record of a run from its beginning, and goes on as it grows.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use memchr::{memchr, memrchr};
use pi_subagents_delegation::{Happening, RunEvent};
use pi_subagents_files as files;

use crate::replay::{self, Reading};
use crate::run_dir::RunDir;

/// How many bytes of each log are shown that were written before anybody followed the run.
const OLD_TEXT: u64 = 64 << 10;

/// Follows the record of one run from its beginning, while somebody else writes it.
///
/// The child's other output stands in logs of its own, without times. It is returned behind the
/// events that were found with it.
#[derive(Debug)]
pub struct RecordTail {
    directory: RunDir,
    reading: Option<Reading>,
    events: GrowingFile,
    stdout: GrowingFile,
    stderr: GrowingFile,
}

impl RecordTail {
    /// Makes a reader at the beginning of a record.
    pub fn new(directory: &RunDir) -> Self {
        Self {
            reading: None,
            events: GrowingFile::from_beginning(directory.events()),
            stdout: GrowingFile::from_last(directory.stdout(), OLD_TEXT),
            stderr: GrowingFile::from_last(directory.stderr(), OLD_TEXT),
            directory: directory.clone(),
        }
    }

    /// Reads about so many bytes further and returns their events; empty when there is nothing more
    /// for now.
    pub fn next(&mut self, bytes: usize) -> io::Result<Vec<RunEvent>> {
        let mut found = Vec::new();
        let reading = if let Some(reading) = &mut self.reading {
            reading
        } else {
            let accepted = replay::accepted(&self.directory)?;
            let begun = Reading::after(&accepted);
            found.push(accepted);
            self.reading.insert(begun)
        };
        // There are lines that tell nothing, and what comes behind them must not wait.
        let mut is_more = true;
        while is_more {
            is_more = self
                .events
                .next(bytes, |line| found.extend(reading.event(line)))?
                && found.is_empty();
        }
        if found.is_empty() {
            let mut told = |happening| found.push(reading.at_this_time(happening));
            self.stdout.next(bytes, |line| {
                told(Happening::Printed(Bytes::copy_from_slice(line)));
            })?;
            self.stderr.next(bytes, |line| {
                let words = String::from_utf8_lossy(line).into_owned();
                told(Happening::Complained(words));
            })?;
        }
        Ok(found)
    }
}

/// A file that is read line by line while somebody else writes it.
#[derive(Debug)]
struct GrowingFile {
    path: PathBuf,
    /// `None` until there is one.
    file: Option<File>,
    /// How many bytes at the end of the file are read, if it is there already.
    at_most: Option<u64>,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
}

impl GrowingFile {
    fn from_beginning(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            at_most: None,
            rest: Vec::new(),
        }
    }

    fn from_last(path: PathBuf, bytes: u64) -> Self {
        Self {
            at_most: Some(bytes),
            ..Self::from_beginning(path)
        }
    }

    /// Passes on the lines of the next bytes, or of more bytes if a line is longer. Returns whether
    /// there was any.
    fn next(&mut self, bytes: usize, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        if self.file.is_none() {
            self.file = open(&self.path, self.at_most)?;
        }
        let Some(file) = &mut self.file else {
            return Ok(false);
        };
        let limit = u64::try_from(bytes).unwrap_or(u64::MAX);
        loop {
            let known = self.rest.len();
            let read = file.take(limit).read_to_end(&mut self.rest)?;
            let end = memrchr(b'\n', &self.rest[known..]).map(|end| known + end);
            if let Some(end) = end {
                let rest = self.rest.split_off(end + 1);
                let lines = std::mem::replace(&mut self.rest, rest);
                split(&lines, &mut each);
                return Ok(true);
            }
            if read < bytes {
                return Ok(false);
            }
        }
    }
}

/// Opens a file that may not be there yet, and skips the part that is too old.
fn open(path: &Path, at_most: Option<u64>) -> io::Result<Option<File>> {
    let mut file = match files::open_plain(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    if let Some(at_most) = at_most {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(at_most)))?;
    }
    Ok(Some(file))
}

fn split(mut lines: &[u8], each: &mut impl FnMut(&[u8])) {
    while let Some(end) = memchr(b'\n', lines) {
        if end > 0 {
            each(&lines[..end]);
        }
        lines = &lines[end + 1..];
    }
}
