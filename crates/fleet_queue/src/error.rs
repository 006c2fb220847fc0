//! The errors between us and a fleet, with words that say what to do.

use std::fmt;
use std::time::Duration;

use crate::names::BadName;

/// The reason why a fleet could not be reached, or did not fulfil a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// The address cannot be right.
    #[error("the fleet's server \"{server}\" cannot be an address: {why}")]
    BadServer {
        /// As it was given.
        server: String,
        /// The fault in it.
        why: String,
    },
    /// No server was named.
    #[error("no server of the fleet is named; set subagents.fleet.servers")]
    NoServers,
    /// A name is not usable.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// The file with the certificate authority cannot be used.
    #[error("the file {file} with the fleet's certificate authority cannot be read: {why}")]
    BadAuthority {
        /// Its path.
        file: String,
        /// The fault.
        why: String,
    },
    /// The key is not a key.
    #[error("the fleet's key is not the seed of a user's nkey: {0}")]
    BadKey(String),
    /// No server answered.
    #[error("no server of the fleet can be reached ({servers}): {why}")]
    Unreachable {
        /// The servers that were tried.
        servers: String,
        /// The last error, of a server or of the system.
        why: String,
    },
    /// The server does not let us in.
    #[error("the fleet's server {server} refuses our key; is its entry in the server's file?")]
    NotLetIn {
        /// The servers that were tried.
        server: String,
    },
    /// The server is too old.
    #[error(
        "the fleet's server {server} has version {version}, and a fleet needs 2.12 or newer; \
         update nats-server"
    )]
    OldServer {
        /// Its name.
        server: String,
        /// Its version.
        version: String,
    },
    /// The server has no streams.
    #[error("the fleet's server {server} runs without JetStream; start it with \"-js\"")]
    NoStreams {
        /// Its name.
        server: String,
    },
    /// A stream or a consumer of the fleet is not there.
    #[error("the fleet is not set up: it has no {what}; run `pi-subagents fleet init`")]
    NotSetUp {
        /// The part that is missing.
        what: MissingPart,
    },
    /// Our key does not allow it.
    #[error("our key may not do this in the fleet: {said}")]
    NotAllowed {
        /// The words of the server.
        said: String,
    },
    /// Our key does not let us hear answers under our name.
    #[error(
        "our key was made for another name or role: the fleet's server does not let it hear answers as {name}"
    )]
    Deaf {
        /// Our name.
        name: String,
    },
    /// Nobody answers it now.
    #[error("nobody in the fleet answers to {subject}")]
    Nobody {
        /// The subject of the request.
        subject: String,
    },
    /// The answer did not come in time.
    #[error("the fleet did not answer to {subject} within {} s", within.as_secs_f32())]
    NoAnswer {
        /// The subject of the request.
        subject: String,
        /// The time for which we waited.
        within: Duration,
    },
    /// The connection is closed, or the message cannot be sent.
    #[error("the fleet cannot be asked ({subject}): {why}")]
    NotSent {
        /// The subject of the request.
        subject: String,
        /// The reason.
        why: String,
    },
    /// The server refused it.
    #[error("the fleet's server refuses {subject}: {said} (error {code})")]
    Refused {
        /// The subject of the request.
        subject: String,
        /// The code of the error.
        code: u64,
        /// The words of the server.
        said: String,
    },
    /// We do not understand the answer.
    #[error("the fleet's answer to {subject} is not understood: {why}")]
    Strange {
        /// The subject of the request.
        subject: String,
        /// The fault in it.
        why: String,
    },
}

/// The code of the error of a server without room for a stream.
const NO_ROOM: u64 = 10047;

/// The codes of the errors of servers that keep nothing more: the account, the server, or its disk is
/// full.
const FULL: [u64; 4] = [10002, 10023, 10028, NO_ROOM];

/// The code of the error of a stream that could not keep a message.
const NOT_STORED: u64 = 10077;

/// The codes of the errors of servers that choose a leader: the system is not available, and the
/// server that answers is not the leader.
const CHOOSING: [u64; 2] = [10008, 10009];

/// A part that a fleet needs and does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingPart {
    /// A stream, which may be the one behind a bucket, by its name.
    Stream(String),
    /// A queue of a pool, by its name.
    Consumer(String),
}

impl fmt::Display for MissingPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(name) => write!(formatter, "stream {name}"),
            Self::Consumer(name) => write!(formatter, "consumer {name}"),
        }
    }
}

impl FleetError {
    /// Returns whether the server has no room for what it should keep.
    pub fn is_no_room(&self) -> bool {
        matches!(self, Self::Refused { code: NO_ROOM, .. })
    }

    /// Returns whether the servers keep nothing more of this kind until somebody makes room.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Refused { code, said, .. } => {
                FULL.contains(code) || (*code == NOT_STORED && !said.contains("per subject"))
            }
            _ => false,
        }
    }

    /// Returns whether the same request may succeed a little later, without anybody doing
    /// anything.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Nobody { .. }
            | Self::NoAnswer { .. }
            | Self::NotSent { .. } => true,
            Self::Refused { code, .. } => CHOOSING.contains(code),
            Self::BadServer { .. }
            | Self::NoServers
            | Self::BadName(_)
            | Self::BadAuthority { .. }
            | Self::BadKey(_)
            | Self::NotLetIn { .. }
            | Self::OldServer { .. }
            | Self::NoStreams { .. }
            | Self::NotSetUp { .. }
            | Self::NotAllowed { .. }
            | Self::Deaf { .. }
            | Self::Strange { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_choose_a_leader_are_asked_again_and_refusals_are_not() {
        let refused = |code| FleetError::Refused {
            subject: String::new(),
            code,
            said: String::new(),
        };
        let passing = [10008, 10009, NO_ROOM, 10071].map(|code| refused(code).is_passing());
        assert_eq!(passing, [true, true, false, false]);
    }
}
