//! A bare repository for a moment, which sees the objects of another one. Refs that a bundle needs
//! are made here and not in the user's repository.

use std::path::Path;

use pi_subagents_files::write_whole;
use tempfile::TempDir;

use crate::error::WorkspaceError;
use crate::git::Git;
use crate::object_id::{ObjectFormat, ObjectId};
use crate::passing_directory::passing_directory;
use crate::repository::{Repository, lines};

/// A bare repository for a moment. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    git: Git,
}

impl Scratch {
    /// Makes a repository without objects.
    pub(crate) fn empty(format: ObjectFormat) -> Result<Self, WorkspaceError> {
        let directory = passing_directory()?;
        let git = Git::of_bare(directory.path()).patient();
        init(&git, &["--bare"], format)?;
        Ok(Self { directory, git })
    }

    /// Makes a repository that sees the objects of another one, with histories that end at a
    /// boundary.
    pub(crate) fn of(
        repository: &Repository,
        shallow: &[ObjectId],
    ) -> Result<Self, WorkspaceError> {
        let scratch = Self::empty(repository.object_format())?;
        let place = scratch.directory.path();
        see_objects(place, repository.common_dir())?;
        write_shallow(place, shallow)?;
        Ok(scratch)
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Makes a repository in the directory of git, without hooks and other files of a template.
pub(crate) fn init(
    git: &Git,
    options: &[&str],
    format: ObjectFormat,
) -> Result<(), WorkspaceError> {
    let format = format!("--object-format={}", format.word());
    let arguments = [
        "init",
        "--quiet",
        "--template=",
        "--initial-branch=main",
        &format,
    ];
    git.run(&[&arguments[..], options].concat())?;
    Ok(())
}

/// Lets a repository see the objects of another one.
pub(crate) fn see_objects(git_dir: &Path, other_git_dir: &Path) -> Result<(), WorkspaceError> {
    let folder = git_dir.join("objects/info");
    let file = folder.join("alternates");
    let path = other_git_dir.join("objects");
    let mut line = path.as_os_str().as_encoded_bytes().to_vec();
    line.push(b'\n');
    let made = pi_subagents_files::create_directories(&folder);
    made.and_then(|()| write_whole(&file, &line))
        .map_err(WorkspaceError::of_file(&file))
}

/// Ends the histories of a repository at a boundary.
pub(crate) fn write_shallow(git_dir: &Path, boundary: &[ObjectId]) -> Result<(), WorkspaceError> {
    if boundary.is_empty() {
        return Ok(());
    }
    let file = git_dir.join("shallow");
    let text = lines(boundary.iter().map(ToString::to_string));
    write_whole(&file, text.as_bytes()).map_err(WorkspaceError::of_file(&file))
}
