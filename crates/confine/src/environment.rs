//! The variables of a confined child. Pure.

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;

use pi_subagents_vocabulary::{NetworkReach, Sandbox};

/// The variable that names the level to the child and to everything it starts.
pub const SANDBOX_VARIABLE: &str = "PI_SUBAGENTS_SANDBOX";

/// Variables that lead to services of the user which run outside.
const LEFT_OUT: [&str; 9] = [
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "DOCKER_HOST",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "XAUTHORITY",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_GLOBAL",
];

const LEFT_OUT_BEGINNINGS: [&str; 3] = ["DBUS_", "TMUX", "VSCODE_"];
const LEFT_OUT_ENDINGS: [&str; 1] = ["_ASKPASS"];

/// The variables by which programs find a proxy.
pub(crate) const PROXY_VARIABLES: [&str; 10] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NODE_USE_ENV_PROXY",
    "npm_config_proxy",
];

/// Returns whether a variable is left out.
pub(crate) fn is_left_out(name: &str) -> bool {
    LEFT_OUT.contains(&name)
        || LEFT_OUT_BEGINNINGS
            .iter()
            .any(|start| name.starts_with(start))
        || LEFT_OUT_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// Returns the variables that are added for a sandbox.
pub(crate) fn added(
    sandbox: &Sandbox,
    temporary: &OsStr,
    gateway: Option<&GatewayAddress>,
) -> Vec<(&'static str, OsString)> {
    let mut variables: Vec<(&str, OsString)> = vec![
        (SANDBOX_VARIABLE, sandbox.level.as_str().into()),
        ("TMPDIR", temporary.to_owned()),
    ];
    if let Some(gateway) = gateway {
        let url = gateway.url();
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            variables.push((name, url.clone().into()));
        }
        variables.push(("NODE_USE_ENV_PROXY", "1".into()));
        if !gateway.leads_to_loopback {
            for name in ["NO_PROXY", "no_proxy"] {
                variables.push((name, "localhost,127.0.0.1,::1".into()));
            }
        }
    }
    variables
}

/// Returns whether the machine's own proxy variables reach the child.
pub(crate) fn keeps_proxies(network: &NetworkReach) -> bool {
    match network {
        NetworkReach::Full => true,
        NetworkReach::Hosts(_) | NetworkReach::Model | NetworkReach::None => false,
    }
}

/// The address of a gateway, as programs inside use it.
pub(crate) struct GatewayAddress {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// True if the model runs on this machine, so that its address is asked for at the gateway.
    pub(crate) leads_to_loopback: bool,
}

impl GatewayAddress {
    fn url(&self) -> String {
        format!("http://run:{}@{}", self.token, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_services_outside_are_left_out() {
        let names = [
            "PATH",
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "TMUX_PANE",
            "GIT_ASKPASS",
            "PI_SUBAGENTS_RUN",
        ];
        let kept: Vec<_> = names.iter().filter(|name| !is_left_out(name)).collect();
        assert_eq!(kept, [&"PATH", &"PI_SUBAGENTS_RUN"]);
    }
}
