//! Ports for what is started in a worktree: ten for each, so that servers of several worktrees do not
//! meet.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{create_directories, lock_file, read_own_text, write_whole};

/// The first port of the first worktree.
const FIRST: u16 = 20_000;

/// The number of ports of a worktree.
const EACH: u16 = 10;

/// The largest number of worktrees that have ports at once.
const MOST: u16 = 1000;

/// The time that another process may take to claim its ports.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the first of the ports that belong to a worktree from now on, until its directory is gone.
pub(super) fn claim_ports(folder: &Path, worktree: &Path) -> io::Result<u16> {
    let claims = folder.join(".ports");
    create_directories(&claims)?;
    let _held = lock_file(&claims.join("lock"), PATIENCE).map_err(io::Error::other)?;
    for slot in 0..MOST {
        let file = claims.join(slot.to_string());
        let claimed = read_own_text(&file, 16 * 1024).map(PathBuf::from);
        let is_taken = claimed.is_ok_and(|path| path != worktree && path.exists());
        if !is_taken {
            write_whole(&file, worktree.display().to_string().as_bytes())?;
            return Ok(FIRST + slot * EACH);
        }
    }
    Err(io::Error::other(
        "1000 worktrees have their own ports; remove some",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_again_when_their_worktree_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let worktree = |name: &str| {
            let path = place.path().join(name);
            create_directories(&path).unwrap();
            path
        };
        let (one, two, three) = (worktree("one"), worktree("two"), worktree("three"));
        assert_eq!(claim_ports(place.path(), &one).unwrap(), 20_000);
        assert_eq!(claim_ports(place.path(), &two).unwrap(), 20_010);
        assert_eq!(claim_ports(place.path(), &one).unwrap(), 20_000);
        std::fs::remove_dir(&one).unwrap();
        assert_eq!(claim_ports(place.path(), &three).unwrap(), 20_000);
    }
}
