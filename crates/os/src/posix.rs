//! Calls that every Unix has.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Access, access, ftruncate, statvfs};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Resource, Rlimit, Signal, geteuid, getpid, getrlimit, kill_process, kill_process_group,
    setrlimit, setsid,
};
use rustix::stdio::{dup2_stderr, dup2_stdout};

use crate::name::raw;

/// Returns the number of the user in whose name this process acts.
pub fn user() -> u32 {
    geteuid().as_raw()
}

/// Returns whether this process acts in the name of the superuser.
pub fn is_superuser() -> bool {
    geteuid().is_root()
}

/// Returns whether an error means that the limits of descriptors, processes or memory are reached.
pub fn is_for_want_of_room(error: &io::Error) -> bool {
    let wants = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|error| wants.contains(&error))
}

/// Returns whether this process may execute a file.
pub fn may_execute(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

/// Fails if this process may not make files in a directory.
pub fn may_write_into(directory: &Path) -> io::Result<()> {
    Ok(access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Returns the number of bytes on the disk of a path that this user may still take.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let disk = statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Removes the content of an open file.
pub fn truncate(file: impl AsFd) -> io::Result<()> {
    Ok(ftruncate(file, 0)?)
}

/// Takes this process out of the reach of its terminal. A process that leads a group already stays
/// where it is.
pub fn leave_terminal() {
    // It fails only for such a process.
    _ = setsid();
}

/// Stops this process until somebody continues it.
pub fn stop_this_process() {
    // A process may always stop itself.
    _ = kill_process(getpid(), Signal::STOP);
}

/// Lets this process, and those that it starts, leave no image of their memory behind when they
/// crash: there may be keys in it. They may ask for one themselves.
pub fn leave_no_core() {
    let limit = Rlimit {
        current: Some(0),
        ..getrlimit(Resource::Core)
    };
    // A limit can always be lowered.
    _ = setrlimit(Resource::Core, limit);
}

/// Kills a process group at once, even if processes in it fork meanwhile. The caller knows that a
/// process of its own is in the group, which therefore cannot be a stranger's.
pub fn kill_group(leader: u32) {
    if let Some(leader) = raw(leader) {
        // The last of its processes may just have ended.
        _ = kill_process_group(leader, Signal::KILL);
    }
}

/// Lets the processes that are started from now on inherit a descriptor under its number.
pub fn let_inherit(descriptor: &OwnedFd) -> io::Result<()> {
    Ok(fcntl_setfd(descriptor, FdFlags::empty())?)
}

/// Leads the stdout of this process to nowhere, so that its reader sees the end.
pub fn silence_stdout() -> io::Result<()> {
    Ok(dup2_stdout(nowhere()?)?)
}

/// Leads the stderr of this process to nowhere, so that its reader sees the end.
pub fn silence_stderr() -> io::Result<()> {
    Ok(dup2_stderr(nowhere()?)?)
}

fn nowhere() -> io::Result<File> {
    File::options().write(true).open("/dev/null")
}

/// Waits until there is something to read. A stream that was hung up is the error
/// [`io::ErrorKind::UnexpectedEof`]. A signal ends the waiting early.
pub fn wait_for_input(stream: impl AsFd) -> io::Result<()> {
    let mut waited = [PollFd::new(&stream, PollFlags::IN)];
    match poll(&mut waited, None) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let over = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if waited[0].revents().intersects(over) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_want_of_room_is_one() {
        let error = |number| io::Error::from_raw_os_error(number);
        assert!(is_for_want_of_room(&error(Errno::MFILE.raw_os_error())));
        assert!(is_for_want_of_room(&error(Errno::AGAIN.raw_os_error())));
        assert!(!is_for_want_of_room(&error(Errno::NOENT.raw_os_error())));
        assert!(!is_for_want_of_room(&io::Error::other("x")));
    }
}
