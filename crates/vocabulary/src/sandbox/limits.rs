//! The sandbox of one run, with everything decided.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{NetworkHost, NetworkReach, SandboxLevel};

/// The sandbox of a run. Its paths are as their author wrote them, absolute or with `~/`: each
/// machine finds its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sandbox {
    /// How much the child may write.
    pub level: SandboxLevel,
    /// What its tools may reach over the network; `Full` if there is no sandbox.
    pub network: NetworkReach,
    /// Directories that it may write beside its workspace. They count at `workspace-write` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Paths that it must not see, beside those that are always hidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Paths that it may read although they are hidden by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// Hosts that are allowed beside those of its model, to whoever may reach the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<NetworkHost>,
}

impl Sandbox {
    /// Returns whether there is no sandbox.
    pub fn is_off(&self) -> bool {
        self.level.is_off()
    }

    /// Returns whether nothing is set, which is how a sandbox is left out of JSON.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the hosts that the gateway to the model allows beside those of the model.
    pub fn gateway_hosts(&self) -> impl Iterator<Item = &NetworkHost> {
        self.network.hosts().iter().chain(&self.hosts)
    }

    /// Returns a path of a sandbox for a machine with this home, or `None` if it is neither absolute
    /// nor in the home.
    pub fn absolute(written: &str, home: &Path) -> Option<PathBuf> {
        let path = match written.strip_prefix('~') {
            Some("") => home.to_owned(),
            Some(rest) => home.join(rest.strip_prefix('/')?),
            None => PathBuf::from(written),
        };
        let is_plain = |part: Component<'_>| !matches!(part, Component::ParentDir);
        (path.is_absolute() && path.components().all(is_plain)).then_some(path)
    }

    /// Returns the level for a screen with little room, and the network unless it is the usual one:
    /// `read-only`, `workspace-write, network model`.
    pub fn shown(&self) -> String {
        match self.network {
            NetworkReach::None => self.level.to_string(),
            NetworkReach::Full | NetworkReach::Hosts(_) | NetworkReach::Model => self.to_string(),
        }
    }

    /// Returns the sandbox in which a child may do only what both allow.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        Self {
            level: self.level.tightened(other.level),
            network: self.network.tightened(other.network),
            writable: common(self.writable, &other.writable),
            hidden: union(self.hidden, other.hidden),
            readable: common(self.readable, &other.readable),
            hosts: common(self.hosts, &other.hosts),
        }
    }

    /// Returns this sandbox of an order as a worker keeps it: never below the worker's minimum, and
    /// with the worker's own lists of what is given beside it.
    #[must_use]
    pub fn on_worker(self, minimum: SandboxLevel, own: Self) -> Self {
        let level = self.level.tightened(minimum);
        if level.is_off() {
            return self;
        }
        let network = match self.level {
            SandboxLevel::Off => NetworkReach::None,
            SandboxLevel::WorkspaceWrite | SandboxLevel::ReadOnly => self.network,
        };
        Self {
            level,
            network,
            hidden: union(self.hidden, own.hidden),
            ..own
        }
    }

    /// Returns whether level and network are as tight as those of a floor, or tighter.
    pub fn at_least(&self, floor: &Self) -> bool {
        self.level.at_least(floor.level) && self.network.at_least(&floor.network)
    }
}

fn common<T: PartialEq>(mut own: Vec<T>, others: &[T]) -> Vec<T> {
    own.retain(|item| others.contains(item));
    own
}

fn union<T: PartialEq>(mut own: Vec<T>, others: Vec<T>) -> Vec<T> {
    for item in others {
        if !own.contains(&item) {
            own.push(item);
        }
    }
    own
}

/// `off`, or the level with the network: `workspace-write, network none`.
impl fmt::Display for Sandbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_off() {
            return write!(formatter, "{}", self.level);
        }
        write!(formatter, "{}, network {}", self.level, self.network)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn sandbox(value: serde_json::Value) -> Sandbox {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_tightened_sandbox_allows_what_both_allow() {
        let one = sandbox(json!({
            "level": "workspace-write", "network": ["a:1", "b:2"],
            "writable": ["~/x", "~/y"], "hidden": ["~/h"], "readable": ["~/r"], "hosts": ["a:1"],
        }));
        let other = sandbox(json!({
            "level": "read-only", "network": ["b:2"],
            "writable": ["~/y"], "hidden": ["~/i"], "hosts": ["a:1", "c:3"],
        }));
        let both = sandbox(json!({
            "level": "read-only", "network": ["b:2"],
            "writable": ["~/y"], "hidden": ["~/h", "~/i"], "hosts": ["a:1"],
        }));
        assert_eq!(one.clone().tightened(other.clone()), both);
        assert!(other.at_least(&one));
        assert!(!one.at_least(&other));
        assert_eq!(both.to_string(), "read-only, network b:2");
        assert_eq!(Sandbox::default().to_string(), "off");
    }

    #[test]
    fn a_worker_gives_nothing_that_an_order_wants_beside_the_workspace() {
        let own = sandbox(json!({
            "level": "off", "network": "full", "writable": ["~/.cache"], "hidden": ["~/seed"],
        }));
        let order = sandbox(json!({
            "level": "workspace-write", "network": "model", "writable": ["/etc"],
            "hidden": ["~/h"], "readable": ["~/.ssh"], "hosts": ["a:1"],
        }));
        let kept = sandbox(json!({
            "level": "read-only", "network": "model", "writable": ["~/.cache"],
            "hidden": ["~/h", "~/seed"],
        }));
        let on_worker =
            |sandbox: &Sandbox, minimum| sandbox.clone().on_worker(minimum, own.clone());
        assert_eq!(on_worker(&order, SandboxLevel::ReadOnly), kept);
        let open = Sandbox::default();
        assert_eq!(on_worker(&open, SandboxLevel::Off), open);
        let closed = on_worker(&open, SandboxLevel::WorkspaceWrite);
        assert_eq!(closed.to_string(), "workspace-write, network none");
    }

    #[test]
    fn a_path_is_absolute_or_in_the_home() {
        let absolute = |written| Sandbox::absolute(written, Path::new("/home/ada"));
        assert_eq!(absolute("/srv/x"), Some("/srv/x".into()));
        assert_eq!(absolute("~/.cargo"), Some("/home/ada/.cargo".into()));
        assert_eq!(absolute("~"), Some("/home/ada".into()));
        for written in ["", "x", "./x", "~bob/x", "/srv/../etc", "~/../bob"] {
            assert_eq!(absolute(written), None, "{written}");
        }
    }
}
