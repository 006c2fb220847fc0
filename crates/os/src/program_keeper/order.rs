//! The messages between an owner and a keeper of programs. Only our own binary writes them.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;

use crate::program::ProgramStreams;
use crate::{Descriptors as _, ProgramCommand, System};

/// The byte with which the streams of a program come.
const RUN: u8 = b'r';

/// The byte that ends the program at once.
const END: u8 = b'e';

/// No system starts a longer command line.
const LONGEST_COMMAND: u32 = 64 << 20;

/// A message to a keeper.
pub(super) enum Order {
    /// Run this program. Its command follows ([`receive_command`]).
    Run(ProgramStreams),
    /// End the program and all it has started.
    End,
    /// There is no owner any more.
    Gone,
}

/// A message from a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The program runs.
    Started { pid: u32 },
    /// The program could not be started, for this error of the system.
    CouldNotStart { number: i32 },
    /// The program has ended with this status of the system, and so has all that it had started.
    Ended { status: i32 },
}

impl Order {
    pub(super) fn receive(socket: &UnixStream) -> io::Result<Self> {
        let (byte, descriptors) = System::receive(socket)?;
        let streams = <[_; 3]>::try_from(descriptors);
        match (byte, streams) {
            (RUN, Ok([stdin, stdout, stderr])) => Ok(Self::Run(ProgramStreams {
                stdin,
                stdout,
                stderr,
            })),
            (END, _) => Ok(Self::End),
            // At the end of the stream no byte comes, which is read as zero.
            _ => Ok(Self::Gone),
        }
    }
}

/// Sends a program to a keeper.
pub(super) fn send_program(
    mut socket: &UnixStream,
    command: &ProgramCommand,
    streams: &ProgramStreams,
) -> io::Result<()> {
    let bytes = command_bytes(command)?;
    let descriptors = [&streams.stdin, &streams.stdout, &streams.stderr];
    System::send(socket, RUN, &descriptors.map(|stream| stream.as_fd()))?;
    socket.write_all(&bytes)
}

/// Tells a keeper to end its program.
pub(super) fn send_end(mut socket: &UnixStream) -> io::Result<()> {
    socket.write_all(&[END])
}

/// Writes a command down: its length, then words that end with a zero.
fn command_bytes(command: &ProgramCommand) -> io::Result<Vec<u8>> {
    let directory = command
        .directory
        .as_deref()
        .map_or(OsStr::new(""), AsRef::as_ref);
    let count = OsString::from(command.arguments.len().to_string());
    let variables = command.environment.iter().map(|(name, value)| {
        let mut variable = name.clone();
        variable.push("=");
        variable.push(value);
        variable
    });
    let mut words = vec![directory.to_owned(), command.program.clone().into(), count];
    words.extend(command.arguments.iter().cloned());
    words.extend(variables);
    let mut bytes = vec![0; 4];
    for word in words {
        if word.as_bytes().contains(&0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an argument has a zero byte in it",
            ));
        }
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    }
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Receives the command of a program; waits until all of it has come.
pub(super) fn receive_command(mut socket: &UnixStream) -> io::Result<ProgramCommand> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_COMMAND {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    socket.read_exact(&mut bytes)?;
    parsed(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn parsed(bytes: &[u8]) -> Option<ProgramCommand> {
    let mut words = bytes
        .strip_suffix(&[0])?
        .split(|byte| *byte == 0)
        .map(|word| OsString::from_vec(word.to_vec()));
    let directory = words.next().filter(|directory| !directory.is_empty());
    let program = words.next()?.into();
    let count: usize = words.next()?.to_str()?.parse().ok()?;
    let arguments: Vec<OsString> = words.by_ref().take(count).collect();
    let environment = words.filter_map(|variable| {
        let bytes = variable.as_bytes();
        let at = bytes.iter().skip(1).position(|byte| *byte == b'=')? + 1;
        let (name, value) = (&bytes[..at], &bytes[at + 1..]);
        Some((
            OsStr::from_bytes(name).into(),
            OsStr::from_bytes(value).into(),
        ))
    });
    Some(ProgramCommand {
        program,
        arguments,
        environment: environment.collect(),
        directory: directory.map(Into::into),
    })
}

impl Answer {
    pub(super) fn send(self, mut socket: &UnixStream) -> io::Result<()> {
        let (kind, number) = match self {
            Self::Started { pid } => (b's', pid.cast_signed()),
            Self::CouldNotStart { number } => (b'c', number),
            Self::Ended { status } => (b'x', status),
        };
        let [a, b, c, d] = number.to_le_bytes();
        socket.write_all(&[kind, a, b, c, d])
    }

    /// Receives an answer; waits until it has come.
    pub(super) fn receive(mut socket: &UnixStream) -> io::Result<Self> {
        let mut bytes = [0; 5];
        socket.read_exact(&mut bytes)?;
        let [kind, number @ ..] = bytes;
        let number = i32::from_le_bytes(number);
        match kind {
            b's' => Ok(Self::Started {
                pid: number.cast_unsigned(),
            }),
            b'c' => Ok(Self::CouldNotStart { number }),
            b'x' => Ok(Self::Ended { status: number }),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_command_arrives_as_it_was_sent() {
        let (ours, theirs) = System::socket_pair().unwrap();
        let strange = OsString::from_vec(vec![b'a', 0xff, b'\n']);
        let sent = ProgramCommand {
            program: "/bin/git".into(),
            arguments: vec!["".into(), strange, "-c".into()],
            environment: BTreeMap::from([("A".into(), "b=c".into()), ("EMPTY".into(), "".into())]),
            directory: None,
        };
        (&ours).write_all(&command_bytes(&sent).unwrap()).unwrap();
        let received = receive_command(&theirs).unwrap();
        assert_eq!(format!("{received:?}"), format!("{sent:?}"));
        for answer in [Answer::Started { pid: 7 }, Answer::Ended { status: 9 }] {
            answer.send(&theirs).unwrap();
            assert_eq!(Answer::receive(&ours).unwrap(), answer);
        }
    }

    #[test]
    fn a_zero_byte_is_refused_before_anything_is_sent() {
        let command = ProgramCommand {
            program: "/bin/git".into(),
            arguments: vec![OsString::from_vec(vec![0])],
            environment: BTreeMap::new(),
            directory: None,
        };
        assert!(command_bytes(&command).is_err());
    }
}
