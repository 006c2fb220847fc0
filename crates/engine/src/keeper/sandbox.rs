//! The sandbox of a child, as its keeper knows it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use pi_subagents_confine::{ConfineOrder, NotStarted, Seal, start_confined};
use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::{Confinement, Sandbox};
use serde::{Deserialize, Serialize};

use crate::gateway::GatewayRules;

/// The variable with which pi, and the embedded agent as it does, finds its agent directory.
const AGENT_DIRECTORY: &str = "PI_CODING_AGENT_DIR";

/// The sandbox of a child, as the owner sends it to the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptSandbox {
    /// Our own binary.
    pub(crate) program: PathBuf,
    /// Its hidden command.
    pub(crate) arguments: Vec<String>,
    pub(crate) sandbox: Sandbox,
    pub(crate) confinement: Confinement,
    pub(crate) cwd: PathBuf,
    /// True if the process gets the word of the gateway.
    pub(crate) has_gateway: bool,
}

/// A child that was started in its sandbox.
pub(super) struct SealedChild {
    pub(super) child: Child,
    pub(super) seal: Seal,
    /// The listener in the child's network, and the rules of its gateway.
    pub(super) gateway: Option<(TcpListener, GatewayRules)>,
}

impl KeptSandbox {
    /// Starts a child in the sandbox. The command has its environment and its outputs.
    pub(super) fn start(
        &self,
        words: &[OsString],
        stdin: &OwnedFd,
        inherited: Vec<i32>,
        mut command: Command,
    ) -> Result<SealedChild, NotStarted> {
        let token = token().map_err(NotStarted::NotExecuted)?;
        let mut order = ConfineOrder::new(
            self.sandbox.clone(),
            self.confinement.clone(),
            self.cwd.clone(),
            words,
        );
        if let Some(directory) = &self.confinement.private_agent_directory {
            command.env(AGENT_DIRECTORY, directory);
        }
        order.kept = inherited;
        order.token = self.has_gateway.then(|| token.clone());
        let started = start_confined(command, &order, stdin)?;
        Ok(SealedChild {
            child: started.child,
            seal: started.seal,
            gateway: started
                .listener
                .map(|listener| (listener, self.gateway_rules(&token))),
        })
    }

    fn gateway_rules(&self, token: &str) -> GatewayRules {
        GatewayRules::new(
            token,
            self.confinement.model_hosts.clone(),
            self.sandbox.gateway_hosts().cloned().collect(),
        )
    }
}

/// Makes the word that opens the gateway of one child.
fn token() -> io::Result<String> {
    let mut word = String::new();
    for _ in 0..4 {
        let mut bytes = [0; 8];
        System::random(&mut bytes)?;
        // Writing to a text cannot fail.
        _ = write!(word, "{:016x}", u64::from_ne_bytes(bytes));
    }
    Ok(word)
}

/// Returns what to say about paths that were missing when the child started and that are there
/// now. A file that leads git elsewhere is taken away again: our own git would be the first to
/// follow it.
pub(super) fn made_meanwhile(seal: &Seal, cwd: &Path) -> Vec<String> {
    let missing = seal.missing.iter();
    let made = missing.filter(|path| path.symlink_metadata().is_ok());
    made.map(|path| {
        let shown = path.strip_prefix(cwd).unwrap_or(path).display();
        let is_way = path.file_name().is_some_and(|name| name == "commondir");
        if is_way && fs::remove_file(path).is_ok() {
            return format!("The run made {shown}, which leads git elsewhere; it was removed.");
        }
        format!("The run made {shown}, which other programs execute.")
    })
    .collect()
}
