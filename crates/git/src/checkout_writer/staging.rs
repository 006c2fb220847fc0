//! New files before they are in their places. Git writes them, so that its filters, ends of lines,
//! links and permissions are those of a checkout; then each gets a slot of its own.

use std::fs::Permissions;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, create_directories, create_new};

use super::folder::MergeFolder;
use super::journal::{Entry, Ids, Journal, Way};
use super::look::Look;
use super::path_change::{PathChange, SideKind};
use super::spot::Spot;
use super::steps::slot;
use crate::error::WorkspaceError;
use crate::index_copy::IndexCopy;
use crate::object_id::ObjectId;
use crate::repository::Repository;

/// A write that can be done: the new files are in their slots.
#[derive(Debug)]
pub(super) enum Staged {
    Ready(Journal),
    /// This path is not as git knows it.
    Changed(PathBuf),
}

/// Makes the new files of a state, and notes what is on disk.
pub(super) fn stage(
    repository: &Repository,
    folder: &MergeFolder,
    changes: &[PathChange],
    after: &ObjectId,
) -> Result<Staged, WorkspaceError> {
    let of_folder = || WorkspaceError::of_file(folder.path());
    folder.clear().map_err(of_folder())?;
    write_files(repository, folder, changes, after)?;
    let top =
        Directory::open(repository.top()).map_err(WorkspaceError::of_file(repository.top()))?;
    let slots = folder.slots().map_err(of_folder())?;
    let tree = Directory::open(&folder.tree()).map_err(of_folder())?;
    let mut entries = Vec::new();
    for change in ordered(changes) {
        let number = entries.len();
        let entry = note(change, number, &top, &tree, &slots);
        let entry = entry.map_err(WorkspaceError::of_file(
            &repository.top().join(&change.path),
        ))?;
        if entry.before.is_some() != change.before.kind.is_written() {
            return Ok(Staged::Changed(entry.path));
        }
        entries.push(entry);
    }
    Ok(Staged::Ready(Journal {
        top: repository.top().to_owned(),
        mark: None,
        way: way_of(folder).map_err(of_folder())?,
        made: missing_directories(&top, &entries).map_err(of_folder())?,
        entries,
    }))
}

/// Orders paths: those that go make room for those that come. Submodules are directories of their
/// own and are not written.
fn ordered(changes: &[PathChange]) -> Vec<&PathChange> {
    let rank = |change: &&PathChange| {
        let (before, after) = (
            change.before.kind.is_written(),
            change.after.kind.is_written(),
        );
        match (before, after) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        }
    };
    let is_written =
        |change: &&PathChange| change.before.kind.is_written() || change.after.kind.is_written();
    let mut ordered: Vec<&PathChange> = changes.iter().filter(is_written).collect();
    ordered.sort_by_key(rank);
    ordered
}

/// Lets git write the files of a state that differ.
fn write_files(
    repository: &Repository,
    folder: &MergeFolder,
    changes: &[PathChange],
    after: &ObjectId,
) -> Result<(), WorkspaceError> {
    let tree = folder.tree();
    create_directories(&tree).map_err(WorkspaceError::of_file(&tree))?;
    let mut names = Vec::new();
    for change in changes
        .iter()
        .filter(|change| change.after.kind.is_written())
    {
        names.extend_from_slice(change.path.as_os_str().as_bytes());
        names.push(0);
    }
    if names.is_empty() {
        return Ok(());
    }
    let index = IndexCopy::empty()?;
    let git = index.git(repository).patient();
    git.run(&["read-tree", after.as_str()])?;
    // The attributes are those of the new state, as if it had been checked out.
    let attributes = format!("--attr-source={after}");
    let prefix = format!("--prefix={}/", tree.display());
    let arguments = [&attributes, "checkout-index", "-z", "--stdin", &prefix];
    git.run_with(&arguments, &names)?;
    Ok(())
}

/// Puts the new file of a path into its slot, and notes both looks.
fn note(
    change: &PathChange,
    number: usize,
    top: &Directory,
    tree: &Directory,
    slots: &Directory,
) -> io::Result<Entry> {
    let before = Spot::look(top, &change.path)?;
    let own = slot(number);
    if change.after.kind.is_written() {
        let made = Spot::open(tree, &change.path)?.ok_or(io::ErrorKind::NotFound)?;
        made.directory.move_to(&made.name, slots, &own)?;
        if let Some(Look::File { mode, .. }) = &before {
            keep_permissions(slots, &own, *mode, change.after.kind)?;
        }
    }
    Ok(Entry {
        path: change.path.clone(),
        before,
        after: Look::at(slots, &own)?,
        ids: Ids {
            before: change.before.id.clone(),
            after: change.after.id.clone(),
        },
    })
}

/// Gives a new file the permissions of the old one. Only the right to run it comes from git.
fn keep_permissions(slots: &Directory, name: &Path, mode: u32, kind: SideKind) -> io::Result<()> {
    let mode = match kind {
        // Whoever may read it may run it.
        SideKind::Executable => mode | ((mode & 0o444) >> 2),
        SideKind::File => mode & !0o111,
        SideKind::Link | SideKind::Submodule | SideKind::None => return Ok(()),
    };
    let file = slots.open_file(name)?;
    file.set_permissions(Permissions::from_mode(mode))
}

/// Lists the directories that are not there and will be made.
fn missing_directories(top: &Directory, entries: &[Entry]) -> io::Result<Vec<PathBuf>> {
    let mut missing = std::collections::BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.before.is_none()) {
        for above in entry.path.ancestors().skip(1) {
            if above.as_os_str().is_empty() || missing.contains(above) {
                break;
            }
            if let Some(spot) = Spot::open(top, above)?
                && spot.directory.has(&spot.name)?
            {
                break;
            }
            missing.insert(above.to_owned());
        }
    }
    Ok(missing.into_iter().collect())
}

/// Finds out whether two files can change places in one step here.
fn way_of(folder: &MergeFolder) -> io::Result<Way> {
    let names = ["one", "two"].map(|name| folder.path().join(name));
    for name in &names {
        create_new(name)?;
    }
    let directory = folder.directory();
    let (one, two) = (Path::new("one"), Path::new("two"));
    let tried = directory.exchange(one, directory, two);
    for name in [one, two] {
        directory.remove(name)?;
    }
    match tried {
        Ok(()) => Ok(Way::Exchange),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Way::TwoSteps),
        Err(error) => Err(error),
    }
}
