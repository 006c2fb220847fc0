//! All files of sticky sessions that a user has, and the removal of a file that no run writes to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{self as files, Directory};
use pi_subagents_vocabulary::Timestamp;

use crate::fleet_sessions::note_of;
use crate::sticky;

/// The number of entries that are looked at in one directory.
const MOST_ENTRIES: usize = 100_000;

/// The file of a sticky session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StickyFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The time of the last write to it.
    pub written_at: Timestamp,
    /// The length of the file.
    pub bytes: u64,
}

/// Returns all files of sticky sessions. Entries that are no regular files are left out, and so are
/// directories that cannot be read.
pub fn sticky_files(home: &Path) -> Vec<StickyFile> {
    let all = Directory::open(&sticky::all_of(home));
    let of_places = all.and_then(|all| {
        let places = all.list(MOST_ENTRIES)?.into_iter();
        let places = places.filter(|place| place.is_directory);
        Ok(places
            .filter_map(|place| all.directory(Path::new(&place.name)).ok())
            .flat_map(|place| files_of(&place))
            .collect())
    });
    of_places.unwrap_or_default()
}

fn files_of(place: &Directory) -> Vec<StickyFile> {
    let entries = place.list(MOST_ENTRIES).unwrap_or_default().into_iter();
    let paths = entries.map(|entry| place.path().join(entry.name));
    let sessions = paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    sessions.filter_map(StickyFile::look).collect()
}

impl StickyFile {
    fn look(path: PathBuf) -> Option<Self> {
        let file = fs::symlink_metadata(&path).ok()?;
        let written_at = Timestamp::try_from(file.modified().ok()?).ok()?;
        file.is_file().then_some(Self {
            path,
            written_at,
            bytes: file.len(),
        })
    }

    /// Removes the file; false if a run has it, or had it since it was looked at.
    pub fn remove(&self) -> io::Result<bool> {
        let Ok(_held) = files::try_lock(&sticky::lock_of(&self.path))? else {
            return Ok(false);
        };
        let is_unchanged = Self::look(self.path.clone()).as_ref() == Some(self);
        if is_unchanged {
            // Without its file the note means nothing.
            _ = fs::remove_file(note_of(&self.path));
            fs::remove_file(&self.path)?;
        }
        Ok(is_unchanged)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use pi_subagents_vocabulary::SessionId;

    use super::*;
    use crate::sticky::StickySession;

    #[test]
    fn a_session_goes_unless_a_run_has_it_or_had_it_just_now() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::parse("talk").unwrap();
        let session = StickySession::of(home.path(), home.path(), "scout", &id).unwrap();
        session.make().unwrap();
        let link = session.file().with_file_name("link.jsonl");
        symlink("/etc/passwd", link).unwrap();
        let files = sticky_files(home.path());
        let [file] = files.as_slice() else {
            panic!("{files:?}");
        };
        assert_eq!(file.path, session.file());
        let held = files::try_lock(&session.lock()).unwrap().unwrap();
        assert!(!file.remove().unwrap());
        drop(held);
        fs::write(session.file(), "{}\n").unwrap();
        assert!(!file.remove().unwrap(), "somebody wrote to it");
        let [file] = sticky_files(home.path()).try_into().unwrap();
        assert!(file.remove().unwrap());
        assert!(!session.file().exists() && !session.lock().exists());
    }
}
