//! Ignored files that a user wants to travel: as a commit of their own, which no history knows.

use std::fs;
use std::path::PathBuf;

use crate::error::WorkspaceError;
use crate::index_copy::IndexCopy;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// Ignored files as a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredFiles {
    /// The commit. It has no parent, and nothing in the repository leads to it.
    pub commit: ObjectId,
    /// The files in it, below the top of the checkout.
    pub files: Vec<PathBuf>,
    /// The number of their bytes together.
    pub bytes: u64,
}

/// Makes a commit of the files that git ignores and these patterns name, as they stand in a
/// `.gitignore`. Returns none if there are no such files.
pub fn commit_ignored(
    repository: &Repository,
    patterns: &[String],
) -> Result<Option<IgnoredFiles>, WorkspaceError> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let ignored = listed(repository, &["--exclude-standard".to_owned()])?;
    let rules: Vec<String> = patterns
        .iter()
        .map(|pattern| format!("--exclude={pattern}"))
        .collect();
    let mut files = listed(repository, &rules)?;
    files.retain(|file| ignored.contains(file));
    if files.is_empty() {
        return Ok(None);
    }
    let index = IndexCopy::empty()?;
    let git = index.git(repository);
    let mut names = Vec::new();
    for file in &files {
        names.extend_from_slice(file.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    git.run_with(&["update-index", "--add", "-z", "--stdin"], &names)?;
    let tree = git.id(&["write-tree"])?;
    let message = "ignored files that travel";
    let commit = repository.commit_tree(&tree, &[], message, Some("@0 +0000"))?;
    let size = |file: &PathBuf| fs::symlink_metadata(repository.top().join(file));
    let bytes = files.iter().filter_map(|file| size(file).ok());
    let bytes = bytes.map(|file| file.len()).sum();
    Ok(Some(IgnoredFiles {
        commit,
        files,
        bytes,
    }))
}

/// Writes the files of such a commit into a checkout. Files that are there already stay.
pub fn lay_ignored(repository: &Repository, commit: &ObjectId) -> Result<(), WorkspaceError> {
    let index = IndexCopy::empty()?;
    let git = index.git(repository);
    git.run(&["read-tree", commit.as_str()])?;
    git.run(&["checkout-index", "--all", "--quiet"])?;
    Ok(())
}

fn listed(repository: &Repository, rules: &[String]) -> Result<Vec<PathBuf>, WorkspaceError> {
    let mut arguments = vec!["ls-files", "--others", "--ignored", "-z"];
    arguments.extend(rules.iter().map(String::as_str));
    let printed = repository.git().run(&arguments)?;
    let files = entries(&printed).map(|entry| path(entry).to_owned());
    Ok(files.collect())
}
