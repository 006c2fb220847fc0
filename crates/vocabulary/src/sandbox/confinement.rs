//! What a sandbox means on the machine on which a task is done.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::NetworkHost;

/// The places of one machine that a sandbox is about. All paths are absolute; those that are not
/// there are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Confinement {
    /// The home directory of the user.
    pub home: PathBuf,
    /// The agent directory of the user.
    pub agent_directory: PathBuf,
    /// Directories of the run itself, which its child may write at every level. They must be there.
    pub writable: Vec<PathBuf>,
    /// Directories that the user lets a child write at `workspace-write`, beside the working
    /// directory.
    pub widened: Vec<PathBuf>,
    /// Paths that the child does not see.
    pub hidden: Vec<PathBuf>,
    /// The agent directory that the child uses instead of the user's own.
    #[serde(default)]
    pub private_agent_directory: Option<PathBuf>,
    /// Paths that the child must see, also below a hidden directory or among temporary files.
    pub visible: Vec<PathBuf>,
    /// Directories in which the child may write what vanishes with it.
    pub overlays: Vec<PathBuf>,
    /// The host of the model.
    pub model_hosts: Vec<NetworkHost>,
}

impl Confinement {
    /// Returns whether the model runs on this machine.
    pub fn is_model_local(&self) -> bool {
        self.model_hosts.iter().any(|host| {
            let address = host.host().parse::<std::net::IpAddr>();
            host.host() == "localhost" || address.is_ok_and(|address| address.is_loopback())
        })
    }
}
