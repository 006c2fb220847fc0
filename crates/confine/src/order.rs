//! The messages between a keeper and the process that confines its child.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use pi_subagents_vocabulary::{Confinement, Sandbox};
use serde::{Deserialize, Serialize};

use crate::step::ConfineFailure;

/// Longer orders no keeper sends.
const LONGEST_ORDER: u32 = 64 << 20;

/// Everything that the process is told, in one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfineOrder {
    /// The policy.
    pub sandbox: Sandbox,
    /// The policy as paths and hosts of this machine.
    pub confinement: Confinement,
    /// The directory of the child.
    pub cwd: PathBuf,
    /// The program and its arguments, as bytes, because they need not be text.
    words: Vec<Vec<u8>>,
    /// The numbers of the descriptors that the child inherits.
    pub kept: Vec<i32>,
    /// The word that the gateway asks for, if the child may use the gateway.
    pub token: Option<String>,
}

impl ConfineOrder {
    /// Makes an order.
    pub fn new(
        sandbox: Sandbox,
        confinement: Confinement,
        cwd: PathBuf,
        words: &[OsString],
    ) -> Self {
        Self {
            sandbox,
            confinement,
            cwd,
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            kept: Vec::new(),
            token: None,
        }
    }

    /// Returns the program and its arguments.
    pub fn words(&self) -> Vec<OsString> {
        let words = self.words.iter();
        words.map(|word| OsString::from_vec(word.clone())).collect()
    }

    /// Returns the program.
    pub fn program(&self) -> Option<&OsStr> {
        self.words.first().map(|word| OsStr::from_bytes(word))
    }

    /// Writes the order down: its length, then JSON.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        Ok([&length.to_le_bytes(), json.as_slice()].concat())
    }

    /// Reads an order; waits until all of it has come.
    pub(crate) fn receive(mut socket: &UnixStream) -> io::Result<Self> {
        let mut length = [0; 4];
        socket.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_ORDER {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut json = vec![0; usize::try_from(length).unwrap_or_default()];
        socket.read_exact(&mut json)?;
        Ok(serde_json::from_slice(&json)?)
    }
}

/// The answers of the process, one JSON object per line. The end of the stream without
/// [`ConfineAnswer::Sealed`] means that nothing was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConfineAnswer {
    /// Everything is closed; the next thing is the child's program. If the stream ends after this,
    /// the program runs.
    Sealed(Seal),
    /// A step failed, and the process exits.
    Failed(ConfineFailure),
}

/// What holds for a child that is confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seal {
    /// The number of the Landlock interface that is in force.
    pub landlock: u32,
    /// True if the child has namespaces of its own; false if Landlock and seccomp hold alone.
    pub namespaces: bool,
    /// Paths that were missing and that other programs would obey; they are looked for when the
    /// child has ended.
    pub missing: Vec<PathBuf>,
}
