//! Room on the disk that is kept free for the end of a run: when the disk is full, the record can
//! still say so.

use std::path::Path;

use pi_subagents_os::{Disk as _, System};

use crate::run_dir::RunDir;

/// The number of bytes that are kept free: enough for a result with a usual answer.
const ROOM: u64 = 64 << 10;

const NAME: &str = ".reserve";

/// Takes the room. If the file system cannot give it, the end of the run is written like everything
/// else.
pub(crate) fn take(directory: &RunDir) {
    let made = directory
        .open()
        .and_then(|open| open.create_new(Path::new(NAME)));
    if let Ok(file) = made
        && System::reserve(&file, ROOM).is_err()
    {
        release(directory);
    }
}

/// Gives the room back, also that of an owner who was killed.
pub(crate) fn release(directory: &RunDir) {
    // If the file is gone already, the room is free.
    _ = directory
        .open()
        .and_then(|open| open.remove(Path::new(NAME)));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn room_is_taken_and_given_back() {
        let home = tempfile::tempdir().unwrap();
        let directory = RunDir::new(home.path());
        take(&directory);
        let file = home.path().join(NAME);
        assert_eq!(fs::metadata(&file).unwrap().len(), ROOM);
        release(&directory);
        assert!(!file.exists());
        release(&directory);
    }
}
