//! The handover from an owner to its keeper before the child starts: descriptors and command line.
//!
//! Descriptors cannot be inherited, because a sibling that is started at the same moment would
//! inherit them too. The command line is not the keeper's own, because a person who ends processes
//! by words in their command lines would end the keeper with its child.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;

use pi_subagents_os::{Descriptors as _, System};

use super::sandbox::KeptSandbox;

/// The kinds of descriptors that the owner may hand over beside the child's stdin. One byte names
/// the kinds that come, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handed {
    /// The key of the child's provider, which the child inherits.
    Key,
    /// The lock of the child's session, which the keeper alone holds.
    Lock,
    /// The variables that hold secrets, which the child inherits.
    Secrets,
}

impl Handed {
    /// The byte when nothing but stdin comes.
    const NOTHING_MORE: u8 = b'@';

    /// Returns its bit in the byte.
    fn bit(self) -> u8 {
        match self {
            Self::Key => 1,
            Self::Lock => 2,
            Self::Secrets => 4,
        }
    }
}

/// Longer command lines no system starts.
const LONGEST_COMMAND: u32 = 64 << 20;

/// Gives the keeper the child's stdin, and the further descriptors.
pub(crate) fn hand_over(
    control: &UnixStream,
    child_stdin: BorrowedFd<'_>,
    further: [(Handed, Option<BorrowedFd<'_>>); 3],
) -> io::Result<()> {
    let mut descriptors: Vec<BorrowedFd<'_>> = vec![child_stdin];
    let mut what = Handed::NOTHING_MORE;
    for (handed, descriptor) in further {
        if let Some(descriptor) = descriptor {
            descriptors.push(descriptor);
            what |= handed.bit();
        }
    }
    System::send(control, what, &descriptors)
}

/// The descriptors that the owner hands over.
pub(super) struct Descriptors {
    pub(super) stdin: OwnedFd,
    pub(super) key: Option<OwnedFd>,
    /// Held until nothing of the tree is left; no child inherits it.
    pub(super) lock: Option<OwnedFd>,
    pub(super) secrets: Option<OwnedFd>,
}

impl Descriptors {
    /// Takes them over.
    pub(super) fn receive(control: &UnixStream) -> io::Result<Self> {
        let (what, descriptors) = System::receive(control).map_err(|_| no_owner())?;
        Self::sort(what, descriptors.into_iter()).ok_or_else(no_owner)
    }

    /// Tells the descriptors apart by the byte that came with them.
    fn sort(what: u8, mut descriptors: impl Iterator<Item = OwnedFd>) -> Option<Self> {
        let stdin = descriptors.next()?;
        let mut next_if = |handed: Handed| {
            if what & handed.bit() == 0 {
                None
            } else {
                descriptors.next()
            }
        };
        Some(Self {
            stdin,
            key: next_if(Handed::Key),
            lock: next_if(Handed::Lock),
            secrets: next_if(Handed::Secrets),
        })
    }
}

/// The command that a keeper starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChildCommand {
    /// The number of files that it may have open, if the owner may have more.
    pub(crate) file_limit: Option<u64>,
    /// The sandbox in which it runs, if it runs in one.
    pub(crate) sandbox: Option<KeptSandbox>,
    /// Its program and arguments.
    pub(crate) words: Vec<OsString>,
}

impl ChildCommand {
    /// Writes it down: its length, then words that end with a zero. Text without zeros comes before
    /// the words of the command: the limit, and the sandbox as JSON.
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let sandbox = self.sandbox.as_ref().map(serde_json::to_string);
        let sandbox = OsString::from(sandbox.transpose()?.unwrap_or_default());
        let limit = self.file_limit.map(|limit| limit.to_string());
        let limit = OsString::from(limit.unwrap_or_default());
        let mut bytes = vec![0; 4];
        for word in [&limit, &sandbox].into_iter().chain(&self.words) {
            bytes.extend_from_slice(word.as_bytes());
            bytes.push(0);
        }
        let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        Ok(bytes)
    }

    /// Reads the command; waits until all of it has come.
    pub(super) fn receive(mut control: &UnixStream) -> io::Result<Self> {
        let mut length = [0; 4];
        control.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_COMMAND {
            return Err(no_owner());
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        control.read_exact(&mut bytes)?;
        let mut words = bytes
            .strip_suffix(&[0])
            .ok_or_else(no_owner)?
            .split(|byte| *byte == 0);
        let limit = words.next().unwrap_or_default();
        // A sandbox that cannot be read is an error: its child must not run without it.
        let sandbox = match words.next().ok_or_else(no_owner)? {
            [] => None,
            json => Some(serde_json::from_slice(json)?),
        };
        Ok(Self {
            sandbox,
            file_limit: OsStr::from_bytes(limit)
                .to_str()
                .and_then(|limit| limit.parse().ok()),
            words: words
                .map(|word| OsString::from_vec(word.to_vec()))
                .collect(),
        })
    }
}

fn no_owner() -> io::Error {
    io::Error::other("no owner on stdin: the keeper is started by pi-subagents itself")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use pi_subagents_vocabulary::{Confinement, Sandbox};

    use super::*;

    fn sandbox() -> KeptSandbox {
        KeptSandbox {
            program: "/bin/ours".into(),
            arguments: vec!["confine".to_owned()],
            sandbox: Sandbox::default(),
            confinement: Confinement {
                home: "/home/ada".into(),
                agent_directory: "/home/ada/.pi/agent".into(),
                writable: Vec::new(),
                widened: Vec::new(),
                hidden: Vec::new(),
                visible: Vec::new(),
                overlays: Vec::new(),
                private_agent_directory: None,
                model_hosts: Vec::new(),
            },
            cwd: "/w".into(),
            has_gateway: true,
        }
    }

    #[test]
    fn a_command_arrives_as_it_was_sent() {
        let strange = OsString::from_vec(vec![b'a', 0xff, b'\n']);
        let words = ["pi", "--mode", "", "rpc"].map(OsString::from);
        let words = words.into_iter().chain([strange]).collect();
        let sent = ChildCommand {
            file_limit: Some(1024),
            sandbox: Some(sandbox()),
            words,
        };
        let (mut ours, keepers) = UnixStream::pair().unwrap();
        ours.write_all(&sent.to_bytes().unwrap()).unwrap();
        assert_eq!(ChildCommand::receive(&keepers).unwrap(), sent);
    }

    #[test]
    fn an_owner_that_is_gone_before_it_said_all_is_an_error() {
        let (mut ours, keepers) = UnixStream::pair().unwrap();
        ours.write_all(&[9, 0, 0, 0, b'x']).unwrap();
        drop(ours);
        assert!(ChildCommand::receive(&keepers).is_err());
    }
}
