//! What a child is told about its sandbox.

use std::path::Path;

use super::{NetworkReach, Sandbox, SandboxLevel};

impl Sandbox {
    /// Returns the sentences that are appended to the system prompt of a child that works in this
    /// directory.
    pub fn instruction(&self, cwd: &Path) -> String {
        let network = match &self.network {
            NetworkReach::Full => "with the network of this machine".to_owned(),
            NetworkReach::Hosts(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                format!("commands reach only {}", hosts.join(", "))
            }
            NetworkReach::Model => "commands reach only the model's server".to_owned(),
            NetworkReach::None => "no network".to_owned(),
        };
        let files = match self.level {
            SandboxLevel::WorkspaceWrite => format!(
                "You can write below {} and in /tmp; the rest is read-only, secrets are hidden, \
                 .git/hooks, .git/config and .pi cannot be changed. Commits work.",
                cwd.display()
            ),
            SandboxLevel::ReadOnly | SandboxLevel::Off => {
                "You can write in /tmp only; the rest is read-only, and secrets are hidden."
                    .to_owned()
            }
        };
        format!(
            "You run in a sandbox ({}, {network}). {files} If something is refused because of \
             this, do not work around it: say what you needed.",
            self.level
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_learns_what_it_may_write_and_reach() {
        let told = |level, network| {
            let sandbox = Sandbox {
                level,
                network,
                ..Sandbox::default()
            };
            sandbox.instruction(Path::new("/w"))
        };
        assert_eq!(
            told(SandboxLevel::WorkspaceWrite, NetworkReach::None),
            "You run in a sandbox (workspace-write, no network). You can write below /w and in \
             /tmp; the rest is read-only, secrets are hidden, .git/hooks, .git/config and .pi \
             cannot be changed. Commits work. If something is refused because of this, do not \
             work around it: say what you needed."
        );
        assert_eq!(
            told(SandboxLevel::ReadOnly, NetworkReach::Full),
            "You run in a sandbox (read-only, with the network of this machine). You can write \
             in /tmp only; the rest is read-only, and secrets are hidden. If something is refused \
             because of this, do not work around it: say what you needed."
        );
    }
}
