//! The file of the index. Many processes append to it at once. A process that replaces the file
//! keeps the others out meanwhile, so that no line goes into a file that has lost its name.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{self as files, Audience, HeldLock, LockError};

/// The time for which the writer of a line waits for a process that has the index alone, which
/// normally takes milliseconds. After that the line is written all the same: the holder of the lock
/// may be stopped for ever, and if the line is lost, the directory of its run still has everything.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time for which a process that wants the index alone waits for the processes that write to
/// it.
const PATIENCE_ALONE: Duration = Duration::from_secs(10);

/// An index is not read beyond this; ten thousand runs take some five megabytes.
const LARGEST: u64 = 1 << 30;

/// Appends lines in one write, so that the lines of several processes do not mix. The condition is
/// looked at when no process has the index alone any more; if it does not hold, nothing is
/// appended.
pub(super) fn append(
    index: &Path,
    lines: Vec<u8>,
    condition: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let file = files::append_own(index)?;
        _ = files::share_open(&file, index, PATIENCE);
        // The file may have been replaced while we waited for it.
        if files::is_named(&file, index)? {
            condition()?;
            return write(&file, index, lines);
        }
    }
}

/// The number of bytes of the index that are in memory at once while its lines are read.
const BLOCK: usize = 256 << 10;

/// A longer line is spoilt: no path, name or model is that long.
const LONGEST_LINE: u64 = 1 << 20;

/// The place of a line in the index. It is small, because a survey keeps several of each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    offset: u32,
    length: u32,
}

impl Place {
    /// Reads the line again.
    pub(super) fn line(self, file: &File) -> io::Result<String> {
        let mut bytes = vec![0; self.length as usize];
        file.read_exact_at(&mut bytes, self.offset.into())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Calls `take` with every line of the index and its place. The index is read in blocks, because
/// after some years it has tens of megabytes. Returns the file, or `None` if it does not exist.
pub(super) fn each_line(
    index: &Path,
    mut take: impl FnMut(&str, Place),
) -> io::Result<Option<File>> {
    let file = match files::open_own(index) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut reader = BufReader::with_capacity(BLOCK, (&file).take(LARGEST));
    let (mut bytes, mut offset) = (Vec::new(), 0_usize);
    loop {
        bytes.clear();
        // The rest of a longer line is read as a line that nobody can parse.
        let read = (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)?;
        if read == 0 {
            drop(reader);
            return Ok(Some(file));
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        // Nothing of an index that is read has an offset beyond these 32 bits.
        if let (Ok(offset), Ok(length)) = (offset.try_into(), line.len().try_into()) {
            take(&text_of(line), Place { offset, length });
        }
        offset += read;
    }
}

/// Returns the text of a line. Nearly every line is whole, which is much quicker to check than to repair.
fn text_of(line: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    }
}

/// Reads the whole index. An index that does not exist is empty.
pub(super) fn content(index: &Path) -> io::Result<String> {
    match files::read_own(index, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
        // Checked as a whole, not string by string.
        Ok(bytes) => Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())),
    }
}

/// The number of bytes at the end of the index that are read for the newest runs: some five
/// hundred.
const NEWEST: u64 = 256 << 10;

/// Reads the end of the index from the beginning of a line.
pub(super) fn newest_content(index: &Path) -> io::Result<String> {
    let mut file = match files::open_own(index) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        opened => opened?,
    };
    let length = file.metadata()?.len();
    let start = length.saturating_sub(NEWEST);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(NEWEST).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let first = if start == 0 {
        0
    } else {
        text.find('\n').map_or(text.len(), |end| end + 1)
    };
    Ok(text.get(first..).unwrap_or_default().to_owned())
}

/// The index, which nobody else writes to while this is held.
#[derive(Debug)]
pub(crate) struct Alone {
    index: PathBuf,
    file: HeldLock,
}

impl Alone {
    /// Waits until nobody writes to the index, and keeps others from it.
    pub(crate) fn with(index: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io {
            path: index.to_owned(),
            source,
        };
        loop {
            let file = files::append_own(index).map_err(failed)?;
            let file = HeldLock::alone(file, index, PATIENCE_ALONE)?;
            if files::is_named(file.file(), index).map_err(failed)? {
                let index = index.to_owned();
                return Ok(Self { index, file });
            }
        }
    }

    /// Returns how long the index is. It grows with everything that anybody notes.
    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.file.file().metadata()?.len())
    }

    pub(super) fn append(&self, lines: Vec<u8>) -> io::Result<()> {
        write(self.file.file(), &self.index, lines)
    }

    pub(super) fn content(&self) -> io::Result<String> {
        content(&self.index)
    }

    /// Replaces the content of the index. A crash leaves the old content or the new one.
    pub(super) fn replace(self, content: &str) -> io::Result<()> {
        // The index may be a link to wherever the user keeps it, and stays a link.
        let file = fs::canonicalize(&self.index)?;
        files::replace(&file, content.as_bytes(), Audience::Private)
    }
}

fn write(mut file: &File, index: &Path, mut lines: Vec<u8>) -> io::Result<()> {
    if is_torn(index) {
        lines.insert(0, b'\n');
    }
    file.write_all(&lines)
}

/// Returns whether a full disk has cut the last line, which must not swallow the next one.
fn is_torn(index: &Path) -> bool {
    let last_byte = || -> io::Result<u8> {
        let mut file = files::open_own(index)?;
        let mut byte = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte)?;
        }
        Ok(byte[0])
    };
    last_byte().is_ok_and(|byte| byte != b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_part_begins_with_a_whole_line() {
        let directory = tempfile::tempdir().unwrap();
        let index = directory.path().join("index");
        assert_eq!(newest_content(&index).unwrap(), "");
        fs::write(&index, "one\ntwo\n").unwrap();
        assert_eq!(newest_content(&index).unwrap(), "one\ntwo\n");
        let line = format!("{}\n", "é".repeat(999));
        let count = usize::try_from(NEWEST).unwrap() / line.len();
        fs::write(&index, line.repeat(3 * count)).unwrap();
        assert_eq!(newest_content(&index).unwrap(), line.repeat(count));
        fs::write(&index, "x".repeat(2 * usize::try_from(NEWEST).unwrap())).unwrap();
        assert_eq!(newest_content(&index).unwrap(), "");
    }
}
