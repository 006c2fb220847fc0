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
    /// `None` until there is one.
    file: Option<File>,
    /// How many bytes at the end of the file are read, if it is there already.
    at_most: Option<u64>,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
}

impl GrowingFile {
    /// Makes a reader of a file from its first line. The file need not be there yet.
    pub fn from_beginning(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            at_most: None,
            rest: Vec::new(),
        }
    }

    /// Makes a reader that begins so many bytes before the end of the file.
    pub(crate) fn from_last(path: PathBuf, bytes: u64) -> Self {
        Self {
            at_most: Some(bytes),
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

    /// Passes on the whole lines of the next bytes, or of more bytes if a line is longer, without
    /// their newlines and without empty ones. Returns whether there was any.
    pub fn next(&mut self, bytes: usize, mut each: impl FnMut(&[u8])) -> io::Result<bool> {
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
