//! The folder of a landing.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, create_directories, read_own, sync, write_whole};

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::pins::checked;
use crate::repository::Repository;

/// The folder of all landings of a repository.
const ALL: &str = "pi-subagents-landings";

/// The refs of all landings.
const REFS: &str = "refs/pi-subagents/landings";

/// The file that names the checkout.
const CHECKOUT: &str = "checkout";

/// A longer file is not ours.
const LARGEST: u64 = 256 * 1024 * 1024;

/// A landing in one checkout.
#[derive(Debug, Clone)]
pub struct Landing {
    pub(super) repository: Repository,
    folder: PathBuf,
    id: String,
}

/// How far a landing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LandingMark {
    /// The checkout has the new state.
    Landed,
    /// All that follows from it is done.
    Closed,
    /// The checkout has the old state again.
    TakenBack,
    /// All that follows from that is done.
    Reopened,
    /// The checkout has lost a part of it, and what follows from that is not done.
    Halved,
}

impl LandingMark {
    fn file(self) -> &'static str {
        match self {
            Self::Landed => "landed",
            Self::Closed => "closed",
            Self::TakenBack => "taken-back",
            Self::Reopened => "reopened",
            Self::Halved => "halved",
        }
    }
}

impl Landing {
    /// Begins a landing. Its id is new, and later ids come behind it in the order of letters.
    pub fn begin(repository: &Repository, id: &str) -> Result<Self, WorkspaceError> {
        let landing = Self {
            folder: folder_of_all(repository).join(checked(id)?),
            id: id.to_owned(),
            repository: repository.clone(),
        };
        let folder = &landing.folder;
        create_directories(folder).map_err(WorkspaceError::of_file(folder))?;
        landing.write(CHECKOUT, repository.git_dir().as_os_str().as_bytes())?;
        Ok(landing)
    }

    /// Lists the landings of a checkout, oldest first.
    pub fn all(repository: &Repository) -> Result<Vec<Self>, WorkspaceError> {
        let all = folder_of_all(repository);
        // Without the folder there is none.
        let listed = fs::read_dir(&all).into_iter().flatten().flatten();
        let found = listed.filter_map(|entry| {
            let landing = Self {
                folder: entry.path(),
                id: entry.file_name().into_string().ok()?,
                repository: repository.clone(),
            };
            checked(&landing.id).ok()?;
            let checkout = landing.read(CHECKOUT)?;
            let is_here = Path::new(OsStr::from_bytes(&checkout)) == repository.git_dir();
            is_here.then_some(landing)
        });
        let mut found: Vec<Self> = found.collect();
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    /// Returns its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether it came so far.
    pub fn has(&self, mark: LandingMark) -> bool {
        self.mark(mark).exists()
    }

    /// Notes that it came so far.
    pub fn set(&self, mark: LandingMark) -> Result<(), WorkspaceError> {
        self.write(mark.file(), b"")
    }

    /// Forgets that it came so far.
    pub fn clear(&self, mark: LandingMark) -> Result<(), WorkspaceError> {
        self.remove(mark.file())
    }

    /// Removes a file of its folder, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), WorkspaceError> {
        let path = self.folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WorkspaceError::of_file(&path)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub(super) fn mark(&self, mark: LandingMark) -> PathBuf {
        self.folder.join(mark.file())
    }

    /// Reads a file of its folder; `None` if there is none.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        read_own(&self.folder.join(name), LARGEST).ok()
    }

    /// Writes a file of its folder, so that a crash of the machine does not cost it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
        let path = self.folder.join(name);
        let written = write_whole(&path, content).and_then(|()| sync(&path));
        written.map_err(WorkspaceError::of_file(&path))
    }

    /// Returns the states before and after it; `None` if they were never kept.
    pub fn states(&self) -> Result<Option<[ObjectId; 2]>, WorkspaceError> {
        let [before, after] = self.refs();
        let before = self.repository.commit_of(&before)?;
        Ok(before
            .zip(self.repository.commit_of(&after)?)
            .map(|(before, after)| [before, after]))
    }

    /// Says that another state is the one after it: a part of it was taken back.
    pub fn end_at(&self, after: &ObjectId) -> Result<(), WorkspaceError> {
        let [_, name] = self.refs();
        let git = self.repository.git();
        git.run(&["update-ref", &name, after.as_str()])?;
        Ok(())
    }

    /// Keeps the states before and after it.
    pub(super) fn keep(&self, before: &ObjectId, after: &ObjectId) -> Result<(), WorkspaceError> {
        let [name_before, name_after] = self.refs();
        let commands = format!("update {name_before} {before}\nupdate {name_after} {after}\n");
        let git = self.repository.git();
        git.run_with(&["update-ref", "--stdin"], commands.as_bytes())?;
        Ok(())
    }

    fn refs(&self) -> [String; 2] {
        ["before", "after"].map(|name| format!("{REFS}/{}/{name}", self.id))
    }

    /// Forgets it: it can be taken back no more.
    pub fn forget(self) -> Result<(), WorkspaceError> {
        let [before, after] = self.refs();
        let git = self.repository.git();
        for name in [before, after] {
            git.try_run(&["update-ref", "-d", &name], b"")?;
        }
        let all = folder_of_all(&self.repository);
        let removed = Directory::open(&all);
        let removed = removed.and_then(|all| all.remove_anything(Path::new(&self.id)));
        removed.map_err(WorkspaceError::of_file(&self.folder))
    }
}

fn folder_of_all(repository: &Repository) -> PathBuf {
    repository.common_dir().join(ALL)
}
