//! The files of a folder that may hold definitions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::FolderDepth;

use crate::places::Folder;

/// The number of entries of a folder that are looked at: a clone may bring any number of them.
pub(crate) const MOST_ENTRIES: usize = 10_000;

/// The number of folders in each other that are looked at.
const DEEPEST: usize = 8;

/// The files of a folder, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct FileList {
    pub(crate) files: Vec<ListedFile>,
    /// True if the folder has entries that were not looked at.
    pub(crate) has_more: bool,
}

/// A file of a folder.
#[derive(Debug)]
pub(crate) struct ListedFile {
    pub(crate) path: PathBuf,
    pub(crate) is_link: bool,
}

impl FileList {
    /// Lists the definition files of a folder; none if there is no such folder.
    pub(crate) fn of(folder: &Folder) -> io::Result<Self> {
        let mut list = Self::default();
        let mut left = MOST_ENTRIES;
        list.add(folder, &folder.path, DEEPEST, &mut left)?;
        list.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(list)
    }

    fn add(
        &mut self,
        folder: &Folder,
        directory: &Path,
        depth: usize,
        left: &mut usize,
    ) -> io::Result<()> {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            if *left == 0 {
                self.has_more = true;
                return Ok(());
            }
            *left -= 1;
            let entry = entry?;
            let kind = entry.file_type()?;
            let is_deep = folder.depth() == FolderDepth::Deep;
            if is_hidden(&entry.file_name()) {
                continue;
            }
            // A link to a folder could lead round in a circle, or out of the project.
            if is_deep && kind.is_dir() && depth > 0 {
                self.add(folder, &entry.path(), depth - 1, left)?;
            } else if has_ending(&entry.path(), folder.ending()) {
                self.files.push(ListedFile {
                    path: entry.path(),
                    is_link: kind.is_symlink(),
                });
            }
        }
        Ok(())
    }
}

/// Returns whether the name of a file is that of a definition: `*.md`, not hidden.
pub(crate) fn is_markdown(name: &Path) -> bool {
    !is_hidden(name.as_os_str()) && has_ending(name, "md")
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension == ending)
}
