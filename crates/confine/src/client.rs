//! The other side of the process that confines: starts it, sends the order, and believes that the
//! child runs only when the process has said that it is sealed.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, System};

use crate::confine::{LISTENER, NO_LISTENER};
use crate::order::{ConfineAnswer, ConfineOrder, Seal};
use crate::step::{ConfineFailure, ConfineStep};

/// The time that the process may take for all its steps; a machine may be very busy.
const TO_SEAL: Duration = Duration::from_secs(45);

/// Longer answers are not ours.
const LONGEST_ANSWER: u64 = 1 << 20;

/// A child that is confined and runs.
#[derive(Debug)]
pub struct ConfinedChild {
    /// Its process.
    pub child: Child,
    /// What holds for it.
    pub seal: Seal,
    /// The listener in the child's network, if it has one of its own.
    pub listener: Option<TcpListener>,
}

/// The reason why a confined child does not run. Nothing was run.
#[derive(Debug)]
pub enum NotStarted {
    /// The sandbox could not be made, for this reason.
    NotConfined(String),
    /// The sandbox was made and the program could not be executed, or there was no room for a
    /// process.
    NotExecuted(io::Error),
}

/// Starts a child in a sandbox. The command is the hidden command of our binary, with the
/// environment and the outputs of the child; its input is the socket to us.
pub fn start_confined(
    mut command: Command,
    order: &ConfineOrder,
    stdin: &OwnedFd,
) -> Result<ConfinedChild, NotStarted> {
    let (ours, theirs) = System::socket_pair().map_err(NotStarted::NotExecuted)?;
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    let mut child = pi_subagents_os::start(&mut command).map_err(NotStarted::NotExecuted)?;
    // Its copy of the socket's other end must not keep the stream open.
    drop(command);
    match converse(&ours, order, stdin) {
        Ok((seal, listener)) => Ok(ConfinedChild {
            child,
            seal,
            listener,
        }),
        Err(refusal) => {
            // It has exited already, unless it hangs.
            _ = child.kill();
            _ = child.wait();
            Err(refusal)
        }
    }
}

/// Sends the order, and waits for the answers until the program runs.
fn converse(
    socket: &UnixStream,
    order: &ConfineOrder,
    stdin: &OwnedFd,
) -> Result<(Seal, Option<TcpListener>), NotStarted> {
    let tell = || {
        socket.set_read_timeout(Some(TO_SEAL))?;
        socket.set_write_timeout(Some(TO_SEAL))?;
        System::send(socket, b'@', &[stdin.as_fd()])?;
        (&mut &*socket).write_all(&order.to_bytes()?)
    };
    let sent = tell();
    let (first, listener) = receive_listener(socket).map_err(|error| unsaid(&error))?;
    let mut lines = BufReader::new(first.chain(socket).take(LONGEST_ANSWER));
    let mut seal = None;
    loop {
        let mut line = String::new();
        let length = lines.read_line(&mut line).map_err(|error| unsaid(&error))?;
        if length == 0 {
            break;
        }
        match serde_json::from_str(&line).map_err(|error| unsaid(&error.into()))? {
            ConfineAnswer::Sealed(said) => seal = Some(said),
            ConfineAnswer::Failed(failure) => return Err(refusal(&failure)),
        }
    }
    sent.map_err(|error| unsaid(&error))?;
    // The stream ends when the program is executed. Without a seal before, the process has died.
    let seal = seal.ok_or_else(|| unsaid(&io::ErrorKind::UnexpectedEof.into()))?;
    Ok((seal, listener))
}

/// Receives the listener. The process may also have failed before it made one; then the byte is the
/// first one of its answer.
fn receive_listener(socket: &UnixStream) -> io::Result<(io::Cursor<Vec<u8>>, Option<TcpListener>)> {
    let (byte, descriptors) = System::receive(socket)?;
    let listener = descriptors.into_iter().next().map(TcpListener::from);
    let first = match byte {
        LISTENER | NO_LISTENER | 0 => Vec::new(),
        other => vec![other],
    };
    Ok((io::Cursor::new(first), listener))
}

fn refusal(failure: &ConfineFailure) -> NotStarted {
    match (failure.step, failure.errno) {
        (ConfineStep::Execute, Some(errno)) => {
            NotStarted::NotExecuted(io::Error::from_raw_os_error(errno))
        }
        _ => NotStarted::NotConfined(failure.reason()),
    }
}

/// Words the end of a process that gave no answer.
fn unsaid(error: &io::Error) -> NotStarted {
    NotStarted::NotConfined(format!(
        "The sandbox could not be made: the process that makes it gave no answer ({error}). Nothing was run; doctor says more."
    ))
}
