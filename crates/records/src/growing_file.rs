//! A file that is read while somebody else writes it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};
use pi_subagents_files as files;

/// A file that is read line by line while somebody else writes it.
#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    /// `None` until the file exists.
    file: Option<File>,
    begin: Begin,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
    /// The place in the file where that line begins.
    place: u64,
}

/// The place where the reading of a file begins.
#[derive(Debug, Clone, Copy)]
enum Begin {
    /// At this place.
    At(u64),
    /// This number of bytes before the end of the file, if it exists already.
    BeforeEnd(u64),
}

impl GrowingFile {
    /// Makes a reader of a file from its first line. The file need not be there yet.
    pub fn from_beginning(path: PathBuf) -> Self {
        Self::from_place(path, 0)
    }

    /// Makes a reader of a file from a place in it, where a line begins.
    pub(crate) fn from_place(path: PathBuf, place: u64) -> Self {
        Self {
            path,
            file: None,
            begin: Begin::At(place),
            rest: Vec::new(),
            place,
        }
    }

    /// Makes a reader that begins this number of bytes before the end of the file.
    pub(crate) fn from_last(path: PathBuf, bytes: u64) -> Self {
        Self {
            begin: Begin::BeforeEnd(bytes),
            ..Self::from_beginning(path)
        }
    }

    /// Returns whether the file is there and was opened.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the place behind the last line that was passed on.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Passes on the whole lines of the next bytes, or of more bytes if a line is longer. The lines
    /// come without their newlines, and empty lines are left out. Returns whether there was any
    /// line.
    pub fn next(&mut self, bytes: usize, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        self.next_placed(bytes, |_, line| each(line))
    }

    /// Does the same, and passes on the place of each line too.
    pub(crate) fn next_placed(
        &mut self,
        bytes: usize,
        mut each: impl FnMut(u64, &[u8]),
    ) -> io::Result<bool> {
        if self.file.is_none()
            && let Some((file, place)) = open(&self.path, self.begin)?
        {
            (self.file, self.place) = (Some(file), place);
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
                split(&lines, self.place, &mut each);
                self.place += lines.len() as u64;
                return Ok(true);
            }
            if read < bytes {
                return Ok(false);
            }
        }
    }
}

/// Opens a file that may not be there yet, and returns it with the place where the reading begins.
fn open(path: &Path, begin: Begin) -> io::Result<Option<(File, u64)>> {
    let mut file = match files::open_plain(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let place = match begin {
        Begin::At(place) => place,
        Begin::BeforeEnd(bytes) => file.metadata()?.len().saturating_sub(bytes),
    };
    file.seek(SeekFrom::Start(place))?;
    Ok(Some((file, place)))
}

fn split(mut lines: &[u8], mut place: u64, each: &mut impl FnMut(u64, &[u8])) {
    while let Some(end) = memchr(b'\n', lines) {
        if end > 0 {
            each(place, &lines[..end]);
        }
        place += end as u64 + 1;
        lines = &lines[end + 1..];
    }
}
