//! The owner of a run, as its record names it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The process that owns a run, named so that a newcomer with the same pid is not taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerName {
    /// Its pid.
    pub pid: u32,
    /// The time at which the process started, in ticks since boot.
    pub start_time: u64,
    /// The machine it runs on: a home directory may be shared by several.
    pub host: String,
    /// The path of the socket on which it takes requests, if it has one.
    pub socket: Option<PathBuf>,
    /// Set if the owner is detached from its caller; its runs are then background runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detached: Option<Detached>,
    /// The prefix of the fleet that does the run. The process named here then only follows it, and
    /// the run goes on without that process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// The caller for whom it works, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<CallerName>,
}

/// The name of a caller, by which lists group runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "door")]
pub enum CallerName {
    /// A person or a script on the command line.
    Terminal,
    /// A person on the web page.
    Page,
    /// A session of pi.
    Pi {
        /// The id of the session.
        session: String,
    },
    /// A client of the Model Context Protocol.
    Mcp {
        /// The name by which its program introduces itself, which stays the same when it connects
        /// again.
        client: Option<String>,
        /// The session in which it called, where several clients share one server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A program that uses the library.
    Program,
}

/// An owner that outlives the process that started it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detached {
    /// The session of the pi that started it; it gets a notice when the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi_session: Option<String>,
}
