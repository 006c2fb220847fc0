//! The folder of a merge in the directory of git: the objects that nobody needs later, the new files
//! before they are in their places, and the journal.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fs, process};

use pi_subagents_files::{Directory, create_directories, write_whole};

use super::journal::Journal;
use crate::error::WorkspaceError;
use crate::repository::Repository;

/// The name of the folder of all merges of a repository.
const ALL: &str = "pi-subagents-merges";

/// The same in a checkout that is on another disk than its repository.
const IN_CHECKOUT: &str = ".pi-subagents-merges";

const SLOTS: &str = "slots";
const TREE: &str = "tree";
const OBJECTS: &str = "objects";

/// The folder of one merge. It is removed when it is dropped, unless a write was begun in it that
/// was neither finished nor taken back.
#[derive(Debug)]
pub(crate) struct MergeFolder {
    path: PathBuf,
    directory: Directory,
}

impl MergeFolder {
    /// Makes a folder on the disk of a checkout. The caller holds the lock of the repository.
    pub(crate) fn new(repository: &Repository) -> Result<Self, WorkspaceError> {
        let place = place_for(repository).map_err(WorkspaceError::of_file(repository.top()))?;
        let made = create_directories(&place);
        made.map_err(WorkspaceError::of_file(&place))?;
        if place.starts_with(repository.top()) && place.ends_with(IN_CHECKOUT) {
            let ignored = place.join(".gitignore");
            let written = write_whole(&ignored, b"*\n");
            written.map_err(WorkspaceError::of_file(&ignored))?;
        }
        let free = (0_u64..).map(|number| place.join(format!("{}-{number}", process::id())));
        for path in free {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    let made = made.and_then(|()| Self::make_parts(&path));
                    made.map_err(WorkspaceError::of_file(&path))?;
                    return Self::open(&path).map_err(WorkspaceError::of_file(&path));
                }
            }
        }
        Err(WorkspaceError::of_file(&place)(
            io::ErrorKind::AlreadyExists.into(),
        ))
    }

    fn make_parts(path: &Path) -> io::Result<()> {
        for part in [SLOTS, OBJECTS] {
            create_directories(&path.join(part))?;
        }
        Ok(())
    }

    /// Opens a folder that is there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: Directory::open_plain(path)?,
            path: path.to_owned(),
        })
    }

    /// Lists the folders that a process left which was killed. The caller holds the lock of the
    /// repository, so nobody works in them.
    pub(crate) fn left(repository: &Repository) -> Vec<PathBuf> {
        let places = [
            repository.common_dir().join(ALL),
            repository.top().join(IN_CHECKOUT),
        ];
        // Without the folder of all merges there is none.
        let listed = places.iter().filter_map(|place| fs::read_dir(place).ok());
        let entries = listed.flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
        folders.sort_unstable();
        folders
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns the place of the objects that nobody needs later.
    pub(crate) fn objects(&self) -> PathBuf {
        self.path.join(OBJECTS)
    }

    /// Returns the place in which git writes the new files.
    pub(super) fn tree(&self) -> PathBuf {
        self.path.join(TREE)
    }

    /// Opens the slots.
    pub(super) fn slots(&self) -> io::Result<Directory> {
        self.directory.directory(Path::new(SLOTS))
    }

    /// Removes all that a write has left in the folder, so that there is room for the next.
    pub(super) fn clear(&self) -> io::Result<()> {
        for part in [TREE, SLOTS] {
            self.directory.remove_anything(Path::new(part))?;
        }
        self.directory.make_directory(Path::new(SLOTS)).map(|_| ())
    }

    /// Returns whether a write was begun in it that was neither finished nor taken back.
    pub(crate) fn has_journal(&self) -> bool {
        !matches!(Journal::read(&self.directory), Ok(None))
    }
}

impl Drop for MergeFolder {
    fn drop(&mut self) {
        if self.has_journal() {
            return;
        }
        let (Some(above), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return;
        };
        // A folder without a journal means nothing, and the next merge removes it.
        if let Ok(above) = Directory::open(above) {
            _ = above.remove_anything(Path::new(name));
        }
    }
}

/// Returns where the folders of merges into a checkout are: files change places only on one disk.
fn place_for(repository: &Repository) -> io::Result<PathBuf> {
    let disk = |path: &Path| Ok::<u64, io::Error>(fs::metadata(path)?.dev());
    if disk(repository.common_dir())? == disk(repository.top())? {
        return Ok(repository.common_dir().join(ALL));
    }
    Ok(repository.top().join(IN_CHECKOUT))
}
