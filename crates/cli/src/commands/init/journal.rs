//! Remembers every file that `init` has changed, with its bytes before and after, so that `--undo` puts
//! them back. The journal and the copies lie in a folder of the agent directory, for the user alone.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Audience, create_directories, is_absent, read_own, replace, write_whole};
use serde::{Deserialize, Serialize};

use super::file_state::{FileContent, FileState};

/// The journal, or a copy in it, is not read beyond this.
const LARGEST: u64 = 32 << 20;

/// The folder of the journal.
pub(super) struct Journal {
    directory: PathBuf,
}

/// A change that was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JournalEntry {
    /// The number in the names of its two copies.
    number: u32,
    pub(super) path: PathBuf,
    /// The permissions that the file had; absent if there was no file.
    mode: Option<u32>,
    /// The directories that were made for it, from the outermost.
    pub(super) directories: Vec<PathBuf>,
    /// How a person removes the change by hand.
    pub(super) by_hand: String,
}

/// A file with its bytes before and after.
#[derive(Debug, Clone)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    pub(super) before: Option<FileContent>,
    pub(super) after: Vec<u8>,
    /// Who may read a file that was not there before.
    pub(super) audience: Audience,
    pub(super) by_hand: String,
}

impl Journal {
    pub(super) fn of(agent_dir: &Path) -> Self {
        Self {
            directory: agent_dir.join("subagents-init"),
        }
    }

    /// Returns all changes, the oldest first.
    pub(super) fn entries(&self) -> io::Result<Vec<JournalEntry>> {
        match read_own(&self.file(), LARGEST) {
            Ok(content) => Ok(serde_json::from_slice(&content)?),
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Writes a file, after the change was noted down. The file must be as it was when the change was
    /// shown to the person.
    pub(super) fn write(&self, change: &FileChange, home: &Path) -> io::Result<()> {
        let now = FileState::of(&change.path, home).into_content();
        if now.map_err(io::Error::other)? != change.before {
            return Err(io::Error::other("it was changed in the meantime"));
        }
        self.note(change)?;
        if let Some(parent) = change.path.parent() {
            create_directories(parent)?;
        }
        match &change.before {
            Some(before) => put(&change.path, &change.after, before.mode),
            None => replace(&change.path, &change.after, change.audience),
        }
    }

    /// Notes a change down, with copies of both states of the file.
    pub(super) fn note(&self, change: &FileChange) -> io::Result<()> {
        create_directories(&self.directory)?;
        let mut entries = self.entries()?;
        let latest = entries.iter().map(|entry| entry.number).max();
        let entry = JournalEntry {
            number: latest.unwrap_or_default() + 1,
            path: change.path.clone(),
            mode: change.before.as_ref().map(|before| before.mode),
            directories: missing_directories(&change.path),
            by_hand: change.by_hand.clone(),
        };
        if let Some(before) = &change.before {
            write_whole(&self.copy(&entry, "before"), &before.bytes)?;
        }
        write_whole(&self.copy(&entry, "after"), &change.after)?;
        entries.push(entry);
        self.save(&entries)
    }

    /// Returns the file as it was before a change; `None` if there was none.
    pub(super) fn before(&self, entry: &JournalEntry) -> io::Result<Option<FileContent>> {
        let Some(mode) = entry.mode else {
            return Ok(None);
        };
        let bytes = read_own(&self.copy(entry, "before"), LARGEST)?;
        Ok(Some(FileContent { bytes, mode }))
    }

    /// Returns the bytes of the file after a change.
    pub(super) fn after(&self, entry: &JournalEntry) -> io::Result<Vec<u8>> {
        read_own(&self.copy(entry, "after"), LARGEST)
    }

    /// Forgets a change, and the whole journal with the last of them.
    pub(super) fn forget(&self, entry: &JournalEntry) -> io::Result<()> {
        let mut entries = self.entries()?;
        entries.retain(|other| other.number != entry.number);
        self.save(&entries)?;
        for state in ["before", "after"] {
            // A file that was not there has no copy.
            _ = fs::remove_file(self.copy(entry, state));
        }
        if entries.is_empty() {
            fs::remove_file(self.file())?;
            // Somebody may have put a file of their own into it.
            _ = fs::remove_dir(&self.directory);
        }
        Ok(())
    }

    fn save(&self, entries: &[JournalEntry]) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(entries)?;
        replace(&self.file(), &text, Audience::Private)
    }

    fn file(&self) -> PathBuf {
        self.directory.join("journal.json")
    }

    fn copy(&self, entry: &JournalEntry, state: &str) -> PathBuf {
        self.directory.join(format!("{}.{state}", entry.number))
    }
}

/// Writes a file whole, with these permissions whatever the umask is.
pub(super) fn put(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    replace(path, bytes, Audience::Mode(mode))?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Returns the directories above a path that are not there, from the outermost.
fn missing_directories(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    let mut missing: Vec<PathBuf> = above
        .take_while(|directory| !directory.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}
