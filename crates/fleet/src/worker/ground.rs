//! The directory of a worker: one process at a time has it, and finds no leftovers of a killed one
//! in it.

use std::io;
use std::path::Path;
use std::time::Duration;

use pi_subagents_files::{
    Directory, HeldLock, LockError, create_directories, is_absent, lock_file, read_own_text,
    write_whole,
};
use pi_subagents_git::collect_caches;
use pi_subagents_records::{QuietIndex, Removal, Store};
use pi_subagents_vocabulary::Timestamp;
use tracing::{info, warn};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;

/// The directory below it in which the workspaces are.
pub(super) const WORKSPACES: &str = "ws";

/// The directory below it in which workspaces are kept whose changes could not be sent.
pub(super) const UNSENT: &str = "unsent";

/// The directory below it in which the caches of repositories are.
pub(super) const CACHES: &str = "cache";

/// The directory below it for files that came from the fleet and are not unpacked yet.
pub(super) const ARRIVING: &str = "arriving";

/// The file below it with the word that no other worker's directory has.
const INSTANCE: &str = "instance";

/// More is not read of that file.
const LONGEST_INSTANCE: u64 = 1024;

/// A cache that was not used for so long goes, whatever room there is.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// More workspaces are not looked at.
const MOST_WORKSPACES: usize = 100_000;

/// Takes the directory for this process, until the lock is dropped.
pub(super) fn take(root: &Path) -> Result<HeldLock, CommandError> {
    let failed = |why: &dyn std::error::Error| {
        let text = format!("the worker's directory {} cannot be used", root.display());
        CommandError::failed(text)
            .because(why)
            .hint("Name another one with --root.")
    };
    // They are made now, because they are needed when there is no room for another directory.
    for folder in [UNSENT, ARRIVING] {
        create_directories(&root.join(folder)).map_err(|error| failed(&error))?;
    }
    lock_file(&root.join("worker.lock"), Duration::ZERO).map_err(|error| match error {
        LockError::Held { holder, .. } => {
            let holder = holder.unwrap_or_else(|| "another process".to_owned());
            CommandError::failed(format!(
                "another worker uses the directory {} ({holder})",
                root.display()
            ))
            .hint("Give this one its own name with --name, and its own directory with --root if you named one.")
        }
        LockError::Io { source, .. } => failed(&source),
    })
}

/// Returns the word that tells this directory from those of other workers. It is made once.
pub(super) fn instance(root: &Path) -> Result<String, CommandError> {
    let file = root.join(INSTANCE);
    if let Ok(word) = read_own_text(&file, LONGEST_INSTANCE)
        && !word.is_empty()
    {
        return Ok(word);
    }
    let word = random::new_secret()?;
    write_whole(&file, word.as_bytes()).map_err(|error| {
        CommandError::failed(format!("{} cannot be written", file.display())).because(&error)
    })?;
    Ok(word)
}

/// Removes the leftovers of an earlier process: workspaces, and records that nobody asks this
/// process for. A leftover that cannot be removed stays until the next time.
pub(super) fn clear(root: &Path, store: &Store) {
    for folder in [WORKSPACES, ARRIVING] {
        if let Err(error) = remove_inside(&root.join(folder)) {
            warn!(root = %root.display(), folder, %error, "files of an earlier worker are left");
        }
    }
    if let Err(error) = remove_records(store) {
        warn!(root = %root.display(), error, "records of an earlier worker are left");
    }
}

/// Removes caches that nobody uses, so that the rest takes no more room than the worker may have.
pub(super) fn make_room(root: &Path, disk: u64) {
    match collect_caches(&root.join(CACHES), disk, UNUSED) {
        Ok(0) => {}
        Ok(removed) => info!(removed, "caches of repositories were removed"),
        Err(error) => warn!(root = %root.display(), %error, "caches cannot be removed"),
    }
}

/// Removes the directories inside a directory.
fn remove_inside(folder: &Path) -> io::Result<()> {
    let folder = match Directory::open_plain(folder) {
        Err(error) if is_absent(&error) => return Ok(()),
        other => other?,
    };
    for entry in folder.list(MOST_WORKSPACES)? {
        if entry.is_directory {
            folder.remove_tree(Path::new(&entry.name))?;
        }
    }
    Ok(())
}

fn remove_records(store: &Store) -> Result<(), String> {
    let runs = store.runs().map_err(|error| error.to_string())?;
    let over = runs.iter().filter(|run| !run.is_open());
    let mut removal = Removal::new(store);
    let index = QuietIndex::wait(store, Timestamp::now()).map_err(|error| error.to_string())?;
    let mut aside = Vec::new();
    for run in over {
        // Its directory may be gone: its caller had everything.
        if index.set_aside(&mut removal, run).is_ok() {
            aside.push(run);
        }
    }
    for run in aside {
        let deleted = removal.delete(&run.directory, &run.run);
        deleted.map_err(|error| error.to_string())?;
    }
    index.compact().map_err(|error| error.to_string())
}
