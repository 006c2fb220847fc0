//! Measures the room of a worker's caches, and removes whole caches that nobody uses, the longest
//! unused first.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pi_subagents_files::{Directory, is_absent, lock_file};

use crate::cache::USE;
use crate::error::WorkspaceError;

/// More caches are not looked at.
const MOST_CACHES: usize = 100_000;

/// A cache, as far as its room goes.
struct Looked {
    name: std::ffi::OsString,
    bytes: u64,
    used: SystemTime,
}

/// Removes the caches in a directory that nobody has used for this long, and then the longest unused
/// ones until the rest takes no more than so many bytes. A cache in use stays. Returns how many were
/// removed.
pub fn collect_caches(
    directory: &Path,
    most_bytes: u64,
    unused: Duration,
) -> Result<usize, WorkspaceError> {
    let caches = match Directory::open_plain(directory) {
        Err(error) if is_absent(&error) => return Ok(0),
        other => other.map_err(WorkspaceError::of_file(directory))?,
    };
    let listed = caches.list(MOST_CACHES);
    let listed = listed.map_err(WorkspaceError::of_file(directory))?;
    let mut looked: Vec<Looked> = listed
        .into_iter()
        .filter(|entry| entry.is_directory)
        .map(|entry| look(&caches, entry.name))
        .collect();
    looked.sort_by_key(|one| one.used);
    let mut total: u64 = looked.iter().map(|one| one.bytes).sum();
    let mut removed = 0;
    for one in looked {
        let is_old = one.used.elapsed().is_ok_and(|age| age > unused);
        if (is_old || total > most_bytes) && remove(&caches, &one)? {
            total = total.saturating_sub(one.bytes);
            removed += 1;
        }
    }
    Ok(removed)
}

fn look(caches: &Directory, name: std::ffi::OsString) -> Looked {
    let mark = caches.path().join(&name).join(USE);
    let used = fs::metadata(mark).and_then(|mark| mark.modified());
    Looked {
        bytes: caches.disk_use(Path::new(&name)).unwrap_or(0),
        // One without a mark was never finished.
        used: used.unwrap_or(SystemTime::UNIX_EPOCH),
        name,
    }
}

/// Removes a cache that nobody uses; false for one that somebody does.
fn remove(caches: &Directory, one: &Looked) -> Result<bool, WorkspaceError> {
    let mark = caches.path().join(&one.name).join(USE);
    let Ok(_alone) = lock_file(&mark, Duration::ZERO) else {
        return Ok(false);
    };
    let removed = caches.remove_tree(Path::new(&one.name));
    removed.map_err(WorkspaceError::of_file(&mark))?;
    Ok(true)
}
