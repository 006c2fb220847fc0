//! The life of a keeper of programs.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::order::{Answer, Order, receive_command};
use crate::program::{ProgramStreams, spawn};
use crate::{
    ProcessName, Processes as _, Reaped, System, reap_any, signal_descendants, silence_stderr,
    silence_stdout,
};

/// The name of the process. It differs from the owner's name, so that a command that kills our
/// processes by name leaves the keepers, which then end the programs.
const NAME: &str = "pisub-programs";

/// The time that a program may take to leave when its owner is dead: git removes its lock files.
const GRACE_WITHOUT_OWNER: Duration = Duration::from_secs(1);

/// The pause between two looks at processes that were killed.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Keeps the programs that its owner names, one after another. Returns when the owner is gone and
/// nothing of the last program is left.
///
/// Runs as a process of its own, whose stdin is a socket to the owner.
pub fn keep_program() -> io::Result<()> {
    // If the keeper cannot change its name, it still does its work.
    _ = System::show_name(NAME);
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Where nobody adopts orphans, those that a program has left are out of reach here.
    System::adopt_orphans()?;
    silence_stdout()?;
    silence_stderr()?;
    loop {
        match Order::receive(&socket)? {
            Order::Run(streams) => keep(&socket, streams)?,
            // The program had ended before the owner wanted that.
            Order::End => {}
            Order::Gone => return Ok(()),
        }
    }
}

/// Keeps one program until nothing of it is left.
fn keep(socket: &UnixStream, streams: ProgramStreams) -> io::Result<()> {
    let command = receive_command(socket)?;
    let child = match spawn(&command, streams) {
        Ok(child) => child.id(),
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_default();
            return Answer::CouldNotStart { number }.send(socket);
        }
    };
    let exit = System::exit_of(ProcessName::of(child))?;
    // An owner that is gone shows that in a moment, and the program must not be left.
    _ = Answer::Started { pid: child }.send(socket);
    if let Wake::OwnerGone = wait(socket, exit.as_ref(), None)? {
        signal_descendants(std::process::id(), Signal::TERM);
        signal_descendants(std::process::id(), Signal::CONT);
        let until = Instant::now() + GRACE_WITHOUT_OWNER;
        wait(socket, exit.as_ref(), Some(until))?;
    }
    let status = end_all(child)?;
    // The owner may be gone; then the next order says so.
    _ = Answer::Ended { status }.send(socket);
    Ok(())
}

enum Wake {
    /// The program has exited, or is to be ended, or its time is over.
    Over,
    OwnerGone,
}

/// Waits for the end of a program. With a time, the owner is not listened to any more.
fn wait(socket: &UnixStream, exit: Option<&OwnedFd>, until: Option<Instant>) -> io::Result<Wake> {
    let Some(exit) = exit else {
        return Ok(Wake::Over);
    };
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let mut waited = vec![PollFd::new(exit, PollFlags::IN)];
        if until.is_none() {
            waited.push(PollFd::new(socket, PollFlags::IN));
        }
        let longest = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut waited, longest.as_ref()) {
            Ok(0) => return Ok(Wake::Over),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if !waited[0].revents().is_empty() {
            return Ok(Wake::Over);
        }
        return Ok(match Order::receive(socket) {
            Ok(Order::End) => Wake::Over,
            Ok(Order::Run(_) | Order::Gone) | Err(_) => Wake::OwnerGone,
        });
    }
}

/// Kills all that is left of a program, and returns its status when nothing is.
fn end_all(child: u32) -> io::Result<i32> {
    let mut status = 0;
    loop {
        match reap_any()? {
            Reaped::Child { pid, code, signal } if pid == child => {
                status = (code.unwrap_or_default() << 8) | signal.unwrap_or_default();
            }
            Reaped::Child { .. } => {}
            Reaped::NobodyNow => {
                signal_descendants(std::process::id(), Signal::KILL);
                std::thread::sleep(LOOK_AGAIN);
            }
            Reaped::NoChild => return Ok(status),
        }
    }
}
