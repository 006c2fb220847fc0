//! The files of one log. They hold its beginning and its end, however much was logged between.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pi_subagents_files::Directory;

/// The log of one process takes at most this many bytes.
pub const LARGEST_LOG: u64 = 10_000_000;

/// A log is kept in at most this many files: the first, the one that is written, and the one
/// before that.
const PARTS: u64 = 3;

/// Opens the directory of the logs.
pub(super) type OpenFolder = Box<dyn Fn() -> io::Result<Directory> + Send + Sync>;

/// A log in several files. Lines that cannot be written are counted and lost; their writer gets no
/// error.
pub(super) struct Parts {
    open_folder: OpenFolder,
    /// The name of the files, without the number and the ending.
    name: String,
    /// The line with which every file begins.
    first_line: String,
    largest_part: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    folder: Option<Directory>,
    part: Option<Part>,
    /// The number of lines that could not be written.
    lost: u64,
    /// The error of the first of them.
    trouble: Option<io::Error>,
    /// True if the last line may have been written only in part.
    is_torn: bool,
}

/// The file that is written.
struct Part {
    number: u64,
    file: File,
    written: u64,
}

impl Parts {
    /// Makes a log of a limited size. Its first file is made with its first line.
    pub(super) fn new(
        open_folder: OpenFolder,
        name: String,
        first_line: String,
        largest: u64,
    ) -> Self {
        Self {
            open_folder,
            name,
            first_line,
            largest_part: largest / PARTS,
            state: Mutex::default(),
        }
    }

    /// Makes the first file if it is not there yet.
    pub(super) fn open(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.make_room(self, 0).map(|_| ())
    }

    /// Writes a line at once, so that nothing is missing if this process is killed.
    pub(super) fn write_line(&self, line: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = state.write(self, line) {
            state.is_torn = true;
            state.lost += 1;
            state.trouble.get_or_insert(error);
        }
    }

    /// Returns how many lines were lost, and why, if any were.
    pub(super) fn lost(&self) -> Option<(u64, String)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = state.trouble.as_ref()?;
        Some((state.lost, trouble.to_string()))
    }

    fn file_name(&self, number: u64) -> String {
        match number {
            1 => format!("{}.log", self.name),
            number => format!("{}.{number}.log", self.name),
        }
    }
}

impl State {
    fn write(&mut self, log: &Parts, line: &str) -> io::Result<()> {
        let is_torn = self.is_torn;
        let part = self.make_room(log, line.len())?;
        if is_torn {
            part.write("\n")?;
        }
        part.write(line)?;
        self.is_torn = false;
        Ok(())
    }

    /// Returns a file with room for this number of bytes: the last file, or a new one.
    fn make_room(&mut self, log: &Parts, bytes: usize) -> io::Result<&mut Part> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let number = match &self.part {
            None => 1,
            Some(part) if part.written.saturating_add(bytes) > log.largest_part => part.number + 1,
            Some(part) => part.number,
        };
        if self.part.as_ref().is_none_or(|part| part.number != number) {
            let part = self.begin(log, number)?;
            self.part = Some(part);
        }
        self.part
            .as_mut()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes the file with this number, and removes the file that is neither the first nor among
    /// the last two.
    fn begin(&mut self, log: &Parts, number: u64) -> io::Result<Part> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => (log.open_folder)()?,
        };
        let folder = self.folder.insert(folder);
        if number > PARTS {
            // Somebody may have removed it by hand.
            _ = folder.remove(Path::new(&log.file_name(number - 2)));
        }
        let mut part = Part {
            number,
            file: folder.create_new(Path::new(&log.file_name(number)))?,
            written: 0,
        };
        part.write(&log.first_line)?;
        Ok(part)
    }
}

impl Part {
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.written += u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn log(place: &TempDir, largest: u64) -> Parts {
        let path = place.path().to_owned();
        let open = move || Directory::open(&path);
        Parts::new(Box::new(open), "t-1-run".into(), "first\n".into(), largest)
    }

    fn files(place: &TempDir) -> Vec<(String, String)> {
        let entries = fs::read_dir(place.path()).unwrap();
        let mut files: Vec<(String, String)> = entries
            .map(|entry| {
                let entry = entry.unwrap();
                let text = fs::read_to_string(entry.path()).unwrap();
                (entry.file_name().into_string().unwrap(), text)
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_long_log_keeps_its_beginning_and_its_end_and_its_limit() {
        let place = tempfile::tempdir().unwrap();
        let log = log(&place, 90);
        for number in 0..100 {
            log.write_line(&format!("line {number:03}\n"));
        }
        let files = files(&place);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["t-1-run.49.log", "t-1-run.50.log", "t-1-run.log"]);
        assert_eq!(files[2].1, "first\nline 000\nline 001\n");
        assert_eq!(files[0].1, "first\nline 096\nline 097\n");
        assert_eq!(files[1].1, "first\nline 098\nline 099\n");
        let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
        assert!(bytes <= 90, "{bytes}");
        assert_eq!(log.lost(), None);
    }

    #[test]
    fn a_log_without_a_line_has_no_file() {
        let place = tempfile::tempdir().unwrap();
        let log = log(&place, 90);
        assert_eq!(files(&place), []);
        log.open().unwrap();
        assert_eq!(files(&place), [("t-1-run.log".into(), "first\n".into())]);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let place = tempfile::tempdir().unwrap();
        let open = || Err(io::Error::from(io::ErrorKind::StorageFull));
        let log = Parts::new(Box::new(open), "t".into(), "first\n".into(), 90);
        log.write_line("a\n");
        log.write_line("b\n");
        let (lost, why) = log.lost().unwrap();
        assert_eq!((lost, why.as_str()), (2, "no storage space"));
        assert_eq!(files(&place), []);
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("target");
        fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, place.path().join("t-1-run.log")).unwrap();
        let log = log(&place, 90);
        log.write_line("a\n");
        assert!(log.lost().is_some());
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    }
}
