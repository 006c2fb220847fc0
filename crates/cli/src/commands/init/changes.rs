//! The changes that `init` has made and can take back, as `uninstall` asks for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::journal::Journal;

/// The files that `init` has changed or made, with their bytes before its first change.
pub(in crate::commands) struct InitChanges {
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl InitChanges {
    /// Reads the journal. One that cannot be read counts as empty: `init --undo` says why.
    pub(in crate::commands) fn read(agent_dir: &Path) -> Self {
        let journal = Journal::of(agent_dir);
        let mut before = BTreeMap::new();
        for entry in journal.entries().unwrap_or_default() {
            let bytes = || match journal.before(&entry) {
                Ok(Some(content)) => content.bytes,
                Ok(None) | Err(_) => Vec::new(),
            };
            before.entry(entry.path.clone()).or_insert_with(bytes);
        }
        Self { before }
    }

    /// Returns the files, in the order of their paths.
    pub(in crate::commands) fn files(&self) -> Vec<&Path> {
        self.before.keys().map(PathBuf::as_path).collect()
    }

    /// Returns whether this file did not have this text before `init`, so that undoing takes it away.
    pub(in crate::commands) fn undo_removes(&self, file: &Path, text: &str) -> bool {
        let before = self.before.get(file);
        before.is_some_and(|before| !String::from_utf8_lossy(before).contains(text))
    }
}
