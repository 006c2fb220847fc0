//! The journal of one write into a checkout. It is on disk, whole and synced, before the first file
//! changes its place, and goes when the last one has.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Audience, Directory, sync, write_whole};

use super::look::Look;

const FILE: &str = "journal";
const HEADING: &[u8] = b"pi-subagents write 2";
const LARGEST: u64 = 256 * 1024 * 1024;

/// The way in which files change places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Old and new file take each other's place in one step.
    Exchange,
    /// The old file goes away, and then the new one comes: the file system cannot do both at once.
    TwoSteps,
}

/// One path that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    /// What was there; `None` for a new file.
    pub(crate) before: Option<Look>,
    /// What is to be there; `None` for a file that goes.
    pub(crate) after: Option<Look>,
    /// The names of both contents in git; zeros where there is none.
    pub(crate) ids: Ids,
}

/// The names of the contents of a path in git, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The journal of one write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Journal {
    /// The checkout.
    pub(crate) top: PathBuf,
    /// The file that is made when the write is finished, if somebody wants to know that later.
    pub(crate) mark: Option<PathBuf>,
    pub(crate) way: Way,
    /// The directories that are made.
    pub(crate) made: Vec<PathBuf>,
    /// The paths: first those that go, then those that change, then those that come.
    pub(crate) entries: Vec<Entry>,
}

impl Journal {
    /// Reads the journal of a folder; `None` if there is none.
    pub(super) fn read(folder: &Directory) -> io::Result<Option<Self>> {
        if !folder.has(Path::new(FILE))? {
            return Ok(None);
        }
        let bytes = folder.read(Path::new(FILE), LARGEST)?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the journal is damaged");
        Self::from_bytes(&bytes).ok_or_else(damaged).map(Some)
    }

    /// Writes the journal into a folder, so that a crash of the machine does not cost it.
    pub(super) fn write(&self, folder: &Directory) -> io::Result<()> {
        folder.replace(Path::new(FILE), &self.to_bytes(), Audience::Private)
    }

    /// Removes the journal of a folder: what it says is done, or was taken back. File systems that
    /// survive a crash of the machine keep the order of names, so it is not synced: where the
    /// journal is gone, the renames before it are done.
    pub(super) fn remove(folder: &Directory) -> io::Result<()> {
        folder.remove(Path::new(FILE))
    }

    /// Makes the file by which others know that the write is finished, and removes the journal.
    pub(super) fn close(&self, folder: &Directory) -> io::Result<()> {
        if let Some(mark) = &self.mark {
            write_whole(mark, b"")?;
            sync(mark)?;
        }
        Self::remove(folder)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let way: &[u8] = match self.way {
            Way::Exchange => b"exchange",
            Way::TwoSteps => b"two-steps",
        };
        let made = self.made.len().to_string();
        let mark = self.mark.as_deref().unwrap_or(Path::new(""));
        let places = [self.top.as_path(), mark].map(|path| path.as_os_str().as_bytes());
        let mut words = vec![HEADING, places[0], places[1], way];
        words.push(made.as_bytes());
        words.extend(self.made.iter().map(|path| path.as_os_str().as_bytes()));
        let looks =
            |entry: &Entry| [&entry.before, &entry.after].map(|it| Look::to_word(it.as_ref()));
        let looks: Vec<[String; 2]> = self.entries.iter().map(looks).collect();
        for (entry, [before, after]) in self.entries.iter().zip(&looks) {
            words.push(entry.path.as_os_str().as_bytes());
            words.extend([before.as_bytes(), after.as_bytes()]);
            words.extend([entry.ids.before.as_bytes(), entry.ids.after.as_bytes()]);
        }
        words.push(b"end");
        words.join(&0)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut words: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        if words.pop()? != b"end" {
            return None;
        }
        let mut words = words.into_iter();
        if words.next()? != HEADING {
            return None;
        }
        let path = |word: &[u8]| PathBuf::from(OsStr::from_bytes(word));
        let top = path(words.next()?);
        let mark = words.next().map(path)?;
        let way = match words.next()? {
            b"exchange" => Way::Exchange,
            b"two-steps" => Way::TwoSteps,
            _ => return None,
        };
        let text = |word: &[u8]| std::str::from_utf8(word).ok().map(str::to_owned);
        let count: usize = text(words.next()?)?.parse().ok()?;
        let made: Vec<PathBuf> = words.by_ref().take(count).map(path).collect();
        let mut entries = Vec::new();
        while let Some(word) = words.next() {
            let mut look = || Look::from_word(&text(words.next()?)?);
            let (before, after) = (look()?, look()?);
            let mut id = || text(words.next()?);
            let (of_before, of_after) = (id()?, id()?);
            entries.push(Entry {
                path: path(word),
                before,
                after,
                ids: Ids {
                    before: of_before,
                    after: of_after,
                },
            });
        }
        (made.len() == count).then_some(Self {
            top,
            mark: (!mark.as_os_str().is_empty()).then_some(mark),
            way,
            made,
            entries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_as_it_was_written_and_never_in_part() {
        let link = |hash: &str| {
            Some(Look::Link {
                hash: hash.to_owned(),
            })
        };
        let ids = Ids {
            before: "0".repeat(40),
            after: "1".repeat(40),
        };
        let journal = Journal {
            top: "/a b\n".into(),
            mark: Some("/a b\n/.git/landed".into()),
            way: Way::TwoSteps,
            made: vec!["new".into()],
            entries: vec![
                Entry {
                    path: OsStr::from_bytes(b"odd \xff\n name").into(),
                    before: link("1"),
                    after: None,
                    ids: ids.clone(),
                },
                Entry {
                    path: "new/file".into(),
                    before: None,
                    after: link("2"),
                    ids,
                },
            ],
        };
        let bytes = journal.to_bytes();
        assert_eq!(Journal::from_bytes(&bytes), Some(journal));
        for cut in 0..bytes.len() {
            assert_eq!(Journal::from_bytes(&bytes[..cut]), None, "{cut}");
        }
    }
}
