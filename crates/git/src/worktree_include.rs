//! Ignored files that a user wants in every worktree: those that `.worktreeinclude` names.

use std::fs;
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use pi_subagents_files::{Directory, create_directories};

use crate::error::WorkspaceError;
use crate::ignored_files::named_and_ignored;
use crate::repository::Repository;

const LIST: &str = ".worktreeinclude";

/// More than this is not copied.
const MOST_BYTES: u64 = 1_000_000_000;

/// The files that were copied into a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopiedFiles {
    /// The files that were copied.
    pub copied: Vec<PathBuf>,
    /// The notes about files that were not copied, as sentences.
    pub notes: Vec<String>,
}

/// Copies the files that git ignores and `.worktreeinclude` names into a worktree. A file that is
/// there is left alone, and no link is followed.
pub fn copy_included(from: &Repository, to: &Path) -> Result<CopiedFiles, WorkspaceError> {
    let mut included = CopiedFiles::default();
    if !from.top().join(LIST).is_file() {
        return Ok(included);
    }
    let named = named_and_ignored(from, &[format!("--exclude-from={LIST}")])?;
    let source = Directory::open(from.top()).map_err(WorkspaceError::of_file(from.top()))?;
    let mut bytes = 0;
    for name in named {
        let size = fs::symlink_metadata(from.top().join(&name)).map_or(0, |file| file.len());
        bytes += size;
        if bytes > MOST_BYTES {
            included.notes.push(format!(
                "{LIST} names more than 1 GB; the rest was not copied"
            ));
            break;
        }
        match copy(&source, &name, to) {
            Ok(true) => included.copied.push(name),
            Ok(false) => {}
            Err(error) => {
                included
                    .notes
                    .push(format!("{} was not copied: {error}", name.display()));
            }
        }
    }
    Ok(included)
}

/// Copies one file or link. Returns false if it was there already.
fn copy(source: &Directory, name: &Path, to: &Path) -> io::Result<bool> {
    let target = to.join(name);
    if fs::symlink_metadata(&target).is_ok() {
        return Ok(false);
    }
    let above = target.parent().unwrap_or(to);
    create_directories(above)?;
    // The base may have a link to somewhere else at this place.
    if !fs::canonicalize(above)?.starts_with(fs::canonicalize(to)?) {
        return Err(io::Error::other("a link in the worktree leads out of it"));
    }
    let from = source.path().join(name);
    if fs::symlink_metadata(&from)?.is_symlink() {
        return copy_link(&from, name, &target);
    }
    let mut file = source.open_file(name)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    let mut copy = open_new(&target, mode)?;
    io::copy(&mut file, &mut copy)?;
    Ok(true)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the file is new, and has the mode of the one it is a copy of"
)]
fn open_new(target: &Path, mode: u32) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(mode).open(target)
}

/// Copies a link that stays inside the checkout.
fn copy_link(from: &Path, name: &Path, target: &Path) -> io::Result<bool> {
    let leads_to = fs::read_link(from)?;
    if leads_to.is_absolute() || leads_out(name, &leads_to) {
        return Err(io::Error::other(
            "it is a link that leads out of the checkout",
        ));
    }
    symlink(leads_to, target)?;
    Ok(true)
}

fn leads_out(name: &Path, leads_to: &Path) -> bool {
    let mut depth = name.components().count().saturating_sub(1);
    for part in leads_to.components() {
        match part {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_checkout_are_seen() {
        for (name, leads_to, expected) in [
            ("a", "b", false),
            ("a", "../b", true),
            ("d/a", "../b", false),
            ("d/a", "../../b", true),
            ("d/a", "../e/../../b", true),
        ] {
            assert_eq!(
                leads_out(Path::new(name), Path::new(leads_to)),
                expected,
                "{name} {leads_to}"
            );
        }
    }
}
