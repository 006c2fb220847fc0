//! A new repository of files that are there.

use std::path::Path;

use crate::error::WorkspaceError;
use crate::git::Git;
use crate::repository::{EMAIL, NAME};

/// Makes a repository of the files in a directory, with one commit on the branch `main`. The author
/// is this crate, so it needs no user that git knows. Templates and ignored names of the user do not
/// count.
pub fn new_repository(directory: &Path, message: &str) -> Result<(), WorkspaceError> {
    let git = Git::at(directory)
        .with_variable("GIT_AUTHOR_NAME", NAME)
        .with_variable("GIT_AUTHOR_EMAIL", EMAIL)
        .with_variable("GIT_COMMITTER_NAME", NAME)
        .with_variable("GIT_COMMITTER_EMAIL", EMAIL);
    git.run(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
    git.run(&["add", "--all", "--force"])?;
    git.run(&["commit", "--quiet", "--no-verify", "--message", message])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Repository;

    #[test]
    fn a_repository_has_its_files_in_one_commit() {
        let place = tempfile::tempdir().unwrap();
        pi_subagents_files::write_whole(&place.path().join("lamp.sh"), b"echo flash\n").unwrap();
        new_repository(place.path(), "light the lamp").unwrap();
        let git = Git::at(place.path());
        let log = git.line(&["log", "--format=%an %s", "--name-only"]);
        assert_eq!(log.unwrap(), "pi-subagents light the lamp\n\nlamp.sh");
        assert_eq!(git.line(&["status", "--porcelain"]).unwrap(), "");
        assert!(Repository::find(place.path()).is_ok());
    }
}
