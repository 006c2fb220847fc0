//! The look of a checkout from outside, so that a change of it is noticed: by `git status`, and by size
//! and time of each file that differs from its commit.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::repository::{Repository, entries, path};
use crate::snapshot::INSIDE_NO_SUBMODULE;

/// A checkout with more changes is not compared.
const MOST_FILES: usize = 20_000;

/// The look of a checkout at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutState {
    /// Each file that differs from HEAD, with how, its size and its time.
    files: BTreeMap<Vec<u8>, String>,
    head: String,
}

impl CheckoutState {
    /// Looks at a checkout; `None` if it has too many changes.
    pub fn of(repository: &Repository) -> Result<Option<Self>, WorkspaceError> {
        let arguments = [
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            INSIDE_NO_SUBMODULE,
        ];
        let printed = repository.git().run(&arguments)?;
        let mut files = BTreeMap::new();
        for entry in entries(&printed) {
            let Some((how, name)) = entry.split_at_checked(3) else {
                continue;
            };
            if files.len() >= MOST_FILES {
                return Ok(None);
            }
            let how = String::from_utf8_lossy(how).trim().to_owned();
            let look = format!("{how} {}", look_of(&repository.top().join(path(name))));
            files.insert(name.to_vec(), look);
        }
        let head = repository.head()?;
        let head = head.map(|head| head.to_string()).unwrap_or_default();
        Ok(Some(Self { files, head }))
    }

    /// Names the files in which a checkout looks different than before; `HEAD` if only that moved.
    pub fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let names = self.files.keys().chain(before.files.keys());
        let differs = |name: &&Vec<u8>| self.files.get(*name) != before.files.get(*name);
        let mut changed: Vec<PathBuf> = names
            .filter(differs)
            .map(|name| path(name).to_owned())
            .collect();
        changed.sort_unstable();
        changed.dedup();
        if changed.is_empty() && self.head != before.head {
            changed.push("HEAD".into());
        }
        changed
    }

    /// Writes it as bytes that [`CheckoutState::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone().into_bytes();
        for (name, look) in &self.files {
            bytes.push(0);
            bytes.extend_from_slice(look.as_bytes());
            bytes.push(0);
            bytes.extend_from_slice(name);
        }
        bytes
    }

    /// Reads what [`CheckoutState::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.split(|byte| *byte == 0);
        let head = String::from_utf8(parts.next()?.to_vec()).ok()?;
        let mut files = BTreeMap::new();
        while let Some(look) = parts.next() {
            let look = String::from_utf8(look.to_vec()).ok()?;
            files.insert(parts.next()?.to_vec(), look);
        }
        Some(Self { files, head })
    }
}

/// Returns size and time of a file, whatever it is.
fn look_of(path: &Path) -> String {
    match fs::symlink_metadata(path) {
        Ok(found) => format!("{} {}.{}", found.len(), found.mtime(), found.mtime_nsec()),
        Err(_) => "gone".to_owned(),
    }
}
