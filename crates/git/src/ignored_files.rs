//! Ignored files that a user wants to travel: as a commit of their own, which no history knows.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::error::WorkspaceError;
use crate::index_copy::IndexCopy;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// Ignored files that a user has named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoredFiles {
    /// Their names below the top of the checkout, each with its bytes.
    pub files: Vec<(PathBuf, u64)>,
}

impl IgnoredFiles {
    /// Returns the number of their bytes together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Lists the files that git ignores and these patterns name, as they stand in a `.gitignore`.
pub fn ignored_files(
    repository: &Repository,
    patterns: &[String],
) -> Result<IgnoredFiles, WorkspaceError> {
    if patterns.is_empty() {
        return Ok(IgnoredFiles::default());
    }
    let rules: Vec<String> = patterns
        .iter()
        .map(|pattern| format!("--exclude={pattern}"))
        .collect();
    let files = named_and_ignored(repository, &rules)?;
    let size = |file: &PathBuf| fs::symlink_metadata(repository.top().join(file));
    let sized = files.into_iter().map(|file| {
        // A file that has just vanished is missed when the commit is made.
        let bytes = size(&file).map_or(0, |file| file.len());
        (file, bytes)
    });
    Ok(IgnoredFiles {
        files: sized.collect(),
    })
}

/// Makes a commit of such files. It has no parent, and nothing in the repository leads to it.
pub fn commit_ignored(
    repository: &Repository,
    ignored: &IgnoredFiles,
) -> Result<ObjectId, WorkspaceError> {
    let index = IndexCopy::empty()?;
    let git = index.git(repository);
    let mut names = Vec::new();
    for (file, _) in &ignored.files {
        names.extend_from_slice(file.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    git.run_with(&["update-index", "--add", "-z", "--stdin"], &names)?;
    let tree = git.id(&["write-tree"])?;
    let message = "ignored files that are sent";
    repository.commit_tree(&tree, &[], message, Some("@0 +0000"))
}

/// Writes the files of such a commit into a checkout. Files that are there already stay.
pub fn lay_ignored(repository: &Repository, commit: &ObjectId) -> Result<(), WorkspaceError> {
    let index = IndexCopy::empty()?;
    let git = index.git(repository);
    git.run(&["read-tree", commit.as_str()])?;
    git.run(&["checkout-index", "--all", "--quiet"])?;
    Ok(())
}

/// Lists the untracked files that rules of `git ls-files` name and that git ignores.
pub(crate) fn named_and_ignored(
    repository: &Repository,
    rules: &[String],
) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let ignored = listed(repository, &["--exclude-standard".to_owned()])?;
    let mut files = listed(repository, rules)?;
    files.retain(|file| ignored.contains(file));
    Ok(files)
}

fn listed(repository: &Repository, rules: &[String]) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let mut arguments = vec!["ls-files", "--others", "--ignored", "-z"];
    arguments.extend(rules.iter().map(String::as_str));
    let printed = repository.git().run(&arguments)?;
    let files = entries(&printed).map(|entry| path(entry).to_owned());
    Ok(files.collect())
}
