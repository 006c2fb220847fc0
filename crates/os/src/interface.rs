//! The questions that are asked of an operating system, one trait per subject. A system answers all
//! of them in one folder, and the compiler checks that none is missing.
//!
//! Whether a descriptor of a system can be waited for by the async runtime is a matter of that
//! system too, so what is waited for is a future.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;

/// The system that this program was built for.
#[derive(Debug)]
pub struct System;

/// A process, named so that a newcomer with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessName {
    /// The number of the process.
    pub pid: u32,
    /// The time at which the process started, in a unit of the system. It is only compared.
    pub start_time: u64,
}

/// The state of a process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLook {
    /// The process whose child it is.
    pub parent: u32,
    /// The number of its process group, unless the process is just vanishing.
    pub group: Option<u32>,
    /// The time at which the process started, as in [`ProcessName`].
    pub start_time: u64,
    /// Whether the process does anything.
    pub state: ProcessState,
}

/// Whether a process does anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It lives.
    Alive,
    /// Somebody has stopped it. It does nothing until it is continued.
    Stopped,
    /// It is dead, and nobody has reaped it.
    Dead,
}

/// The process that becomes the parent of a process whose own parent has died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// This process. A process without children then knows that nobody below it is left.
    Ours,
    /// A process that knows nothing of runs. A process without children then knows nothing, and
    /// must look at its [`Kin`].
    Nobody,
}

/// The result of looking for marks in the environment of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The process carries one of the marks.
    Carried,
    /// The process carries none of them.
    Missing,
    /// The system does not show the environment of this process. On Linux it belongs to another
    /// user or has protected itself; other systems hide whole classes of programs, and must find
    /// the processes of a run in another way ([`Kin::end_runs`]).
    Hidden,
    /// The process is becoming another program. A later look shows more.
    Unsure,
}

/// The changes in a directory that somebody wants to know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// New files, growing files and removed files.
    Everything,
    /// New files.
    NewFiles,
}

/// The facts about the system that a person may want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemFacts {
    /// Its name, release and kind of machine.
    pub name: String,
    /// The features that the engine needs, and whether they are there.
    pub features: Vec<(&'static str, bool)>,
    /// The advice for a system that lacks one of them.
    pub advice: &'static str,
}

/// Single processes.
pub trait Processes {
    /// Looks at a process; `None` if no process has this number.
    fn look(pid: u32) -> Option<ProcessLook>;

    /// Returns the numbers of all processes of this moment.
    fn all() -> Vec<u32>;

    /// Returns the children of a process; `None` if the system keeps no list of the children of one
    /// process.
    fn listed_children(pid: u32) -> Option<Vec<u32>>;

    /// Sends a signal to this process and to no newcomer with the same number. Returns whether it
    /// was sent.
    fn signal(process: ProcessName, signal: Signal) -> bool;

    /// Returns a descriptor that becomes readable, and stays so, when the process is dead, whoever
    /// its parent is; `None` if the process is dead already.
    fn exit_of(process: ProcessName) -> io::Result<Option<OwnedFd>>;

    /// Waits until the process is dead, in an async runtime.
    fn exited(process: ProcessName) -> impl Future<Output = io::Result<()>> + Send;

    /// Returns the name by which a process is known to people; `None` if the process is gone.
    fn shown_name(pid: u32) -> Option<String>;

    /// Changes the name by which this process is known to people, as far as the system can.
    fn show_name(name: &str) -> io::Result<()>;

    /// Makes this process the parent of its orphaned descendants, if the system can. Everybody who
    /// concludes something from the absence of children must ask for the answer.
    fn adopt_orphans() -> io::Result<Adoption>;
}

/// A reader of marks, `NAME=value` in the environments of processes.
pub trait Marks {
    /// Makes a reader that looks for these marks.
    fn of(marks: Vec<String>) -> Self;

    /// Looks for the marks in the environment of a process.
    fn look(&mut self, pid: u32) -> Mark;
}

/// The processes that descend from this process: the tree of a run, seen by its keeper.
pub trait Kin: Sized {
    /// Begins to follow the tree. To be called before the first process of the tree can have left
    /// it. The owner and the run name the tree for processes that look for it later.
    fn begin(owner: ProcessName, run: &str) -> Self;

    /// Returns when [`Kin::tend`] should be called next.
    fn alarm(&self) -> Option<Instant>;

    /// Does what is due to keep the tree together.
    fn tend(&mut self, now: Instant);

    /// Returns the processes of the tree, this process not among them. Where orphans are adopted by
    /// nobody, processes count that were seen below this one before.
    fn look(&mut self) -> Vec<ProcessName>;

    /// Kills the processes of the tree. Returns how many there were.
    fn kill(&mut self) -> usize;

    /// Ends the following of a tree that has no process left.
    fn end(self);

    /// Ends the processes of these runs that the system can find although nobody follows them any
    /// more and although they may have lost their marks.
    fn end_runs(runs: &[&str]);

    /// Does the same for the runs of the owner with this mark, which is gone.
    fn end_owner(mark: &str);

    /// Removes the traces of trees whose owners are gone.
    fn remove_abandoned();

    /// Sends a signal to all processes of the tree, until a look finds only processes that have got
    /// it. Returns how many there were.
    fn signal(&mut self, signal: Signal) -> usize {
        crate::tree::signal_while_new(|| self.look(), signal, |_| true).len()
    }

    /// Stops the processes of the tree. Returns those that were not stopped before.
    fn stop(&mut self) -> HashSet<ProcessName> {
        let is_meant = |process: ProcessName| !process.is_stopped();
        crate::tree::signal_while_new(|| self.look(), Signal::STOP, is_meant)
    }
}

/// Descriptors, and the processes that inherit them.
pub trait Descriptors {
    /// Calls a function that starts a process, while no descriptor is being made that the process
    /// could inherit by accident. Every start of a process goes through here, by [`crate::start`].
    fn starting<T>(start: impl FnOnce() -> T) -> T;

    /// Makes a pipe that no process inherits. The end to read from comes first.
    fn pipe() -> io::Result<(OwnedFd, OwnedFd)>;

    /// Makes a pipe from which this content can be read once; `None` if a pipe of this system does
    /// not take all of it before somebody reads.
    fn filled_pipe(content: &[u8]) -> io::Result<Option<OwnedFd>>;

    /// Makes two connected sockets that no process inherits.
    fn socket_pair() -> io::Result<(UnixStream, UnixStream)>;

    /// Sends one byte with up to four descriptors.
    fn send(socket: &UnixStream, byte: u8, descriptors: &[BorrowedFd<'_>]) -> io::Result<()>;

    /// Receives one byte with the descriptors that came with it. No process inherits them.
    fn receive(socket: &UnixStream) -> io::Result<(u8, Vec<OwnedFd>)>;

    /// Opens an inherited pipe by its number; `None` if the descriptor is no pipe.
    fn inherited_pipe(number: u32) -> io::Result<Option<File>>;

    /// Returns how many descriptors this process has open.
    fn open_count() -> usize;

    /// Returns how many descriptors this process may have open; `None` if there is no limit.
    fn limit() -> Option<u64>;

    /// Raises the limit as far as the system allows. Returns the limit before.
    fn raise_limit() -> Option<u64>;

    /// Lowers the limit, for this process and for those that it starts.
    fn lower_limit(limit: u64);

    /// Waits until the other end of a stream is closed, also while there is something to read.
    fn wait_for_hang_up(stream: BorrowedFd<'_>) -> io::Result<()>;
}

/// Files, some of which were prepared by people who may not be friends.
pub trait Disk {
    /// Opens a relative path without `..` below a directory. A link on the way or at the end is the
    /// error `ELOOP`, a way out is `ELOOP` or `EXDEV`.
    fn open_below(
        directory: BorrowedFd<'_>,
        path: &Path,
        flags: OFlags,
        mode: Mode,
    ) -> io::Result<OwnedFd>;

    /// Returns the real path of an open directory, if the system knows it without looking for links.
    /// A directory that was removed has none.
    fn real_path(directory: BorrowedFd<'_>) -> Option<PathBuf>;

    /// Returns whether the content of a file is made up by the kernel.
    fn is_made_up(file: BorrowedFd<'_>) -> io::Result<bool>;

    /// Moves an entry of a directory to a name in a directory of the same disk, which must be free
    /// ([`io::ErrorKind::AlreadyExists`]). Some file systems cannot do that in one step
    /// ([`io::ErrorKind::Unsupported`]).
    fn rename_to_free(
        directory: BorrowedFd<'_>,
        from: &Path,
        other: BorrowedFd<'_>,
        to: &Path,
    ) -> io::Result<()>;

    /// Lets two entries of directories of the same disk take each other's place in one step. Both
    /// must be there. Some file systems cannot do that ([`io::ErrorKind::Unsupported`]).
    fn exchange(
        directory: BorrowedFd<'_>,
        name: &Path,
        other: BorrowedFd<'_>,
        other_name: &Path,
    ) -> io::Result<()>;

    /// Makes sure that a crash of the machine costs nothing that was written to the disk of a
    /// directory before.
    fn sync_disk(directory: BorrowedFd<'_>) -> io::Result<()>;

    /// Makes sure that a crash of the machine does not cost the present names in a directory.
    fn sync_directory(directory: BorrowedFd<'_>) -> io::Result<()>;

    /// Keeps so many bytes of the disk free for a file.
    fn reserve(file: &File, bytes: u64) -> io::Result<()>;

    /// Returns the process that holds the lock of a file, as far as the system knows.
    fn lock_holder(file: &File) -> Option<u32>;
}

/// Changes in some directories.
pub trait DirectoryWatch: Sized {
    /// Makes a watch of nothing. It is waited for by the async runtime in which it is made.
    fn new() -> io::Result<Self>;

    /// Watches one more directory. A directory that is gone is no error: nothing happens there.
    fn add(&self, directory: &Path, watched: Watched) -> io::Result<()>;

    /// Waits until something may have changed; changes that come together count once. Somebody who
    /// reads the files after this misses nothing. Cancelling loses nothing either.
    fn changed(&self) -> impl Future<Output = ()> + Send;
}

/// The machine.
pub trait Machine {
    /// The program that opens a file with the program that the person has chosen for it.
    const OPENER: &'static str;

    /// Directories that everybody may write into, and that are therefore never a project.
    const TEMPORARY: &'static [&'static str];

    /// Returns the time since the machine was started, including the time in which it slept.
    fn since_boot() -> Duration;

    /// Returns a name of this machine that does not change while a run is under way.
    fn host() -> String;

    /// Fills a short buffer with random bytes that nobody can guess.
    fn random(bytes: &mut [u8; 8]) -> io::Result<()>;

    /// Closes the memory and the open files of this process to other processes of the same user, who
    /// are not the superuser.
    fn hide_this_process() -> io::Result<()>;

    /// Returns the bytes of memory that programs can still take without others losing theirs, as far
    /// as this process may take them; `None` if the system does not say.
    fn free_memory() -> Option<u64>;

    /// Returns the facts about this system.
    fn facts() -> SystemFacts;
}
