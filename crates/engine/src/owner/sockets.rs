//! The directory of all sockets: their names, and the removal of sockets on which nobody listens
//! any more, because their owner was killed.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{HeldLock, lock_directory};
use pi_subagents_os::{Machine as _, ProcessName, System};

/// The length of the longest name of a socket.
pub const LONGEST_SOCKET_NAME: usize = "ffffffff-4294967295.sock".len();

/// Returns the path of this process's socket.
pub(super) fn own_path(directory: &Path) -> PathBuf {
    directory.join(format!("{}-{}.sock", machine(), std::process::id()))
}

/// The time for which this process waits for other processes that make or remove sockets, which
/// takes them milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// Keeps other processes from making or removing sockets while the returned lock is held, so that a
/// socket that is just being made is never taken for an abandoned one. A process that never lets go
/// of the directory cannot keep others from listening: the name of a socket has the number of its
/// process, and the socket of a living process is never taken for abandoned.
pub(super) fn hold(directory: &Path) -> Option<HeldLock> {
    lock_directory(directory, PATIENCE).ok()
}

/// Removes the sockets in a directory whose owner was killed.
pub fn remove_abandoned_sockets(directory: &Path) {
    // If the directory cannot be locked, as on some network disks, the sockets stay.
    if let Some(held) = hold(directory) {
        remove_abandoned(directory, &held);
    }
}

/// Does the same for a caller that holds the directory already.
pub(super) fn remove_abandoned(directory: &Path, _held: &HeldLock) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if owner_of(&path).is_some_and(|pid| ProcessName::of_living(pid).is_none())
            && is_deaf(&path)
        {
            // Another process may have been faster.
            _ = fs::remove_file(&path);
        }
    }
}

/// Returns the owner of a socket of this machine. Other machines may share the disk, and their
/// processes cannot be seen from here.
fn owner_of(socket: &Path) -> Option<u32> {
    let name = socket.file_name()?.to_str()?.strip_suffix(".sock")?;
    let (machine_name, pid) = name.split_once('-')?;
    (machine_name == machine()).then(|| pid.parse().ok())?
}

/// Returns whether nobody listens on a socket, in this container or another one that shares the
/// disk.
fn is_deaf(socket: &Path) -> bool {
    UnixStream::connect(socket).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Returns a name of this machine that is short enough for a path to a socket.
fn machine() -> String {
    let host = System::host();
    // FNV-1a: the same in every build, which the hasher of the standard library is not.
    let hash = host.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::Child;

    use super::*;

    /// Returns the number of a process that has ended, which is therefore free.
    #[expect(
        clippy::disallowed_methods,
        reason = "any process will do that is no child of ours any more"
    )]
    fn dead_process() -> u32 {
        let mut child: Child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn only_sockets_of_dead_owners_of_this_machine_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let (dead, here, living) = (dead_process(), machine(), std::process::id());
        let names = [
            format!("{here}-{dead}.sock"),
            format!("{here}-{living}.sock"),
            format!("00000000-{dead}.sock"),
            "notes.sock".to_owned(),
        ];
        for name in &names {
            // Nobody listens any more once the listener is dropped; the file stays.
            drop(UnixListener::bind(directory.join(name)).unwrap());
        }
        let heard = format!("{here}-{}.sock", dead_process());
        let _listener = UnixListener::bind(directory.join(&heard)).unwrap();
        remove_abandoned_sockets(directory);
        let mut left: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = [&names[1..], &[heard]].concat();
        expected.sort();
        assert_eq!(left, expected);
    }
}
