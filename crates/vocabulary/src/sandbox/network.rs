//! What the tools of a child may reach over the network.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BadHost, NetworkHost};

/// What the tools of a child may reach. The agent itself always reaches its model. From loose to
/// tight: `full`, a list of hosts, `model`, `none`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ReachField", into = "ReachField")]
#[schemars(with = "ReachField")]
pub enum NetworkReach {
    /// The network of this machine, with its local services.
    #[default]
    Full,
    /// These hosts, and the hosts of the model; never an empty list.
    Hosts(Vec<NetworkHost>),
    /// The hosts of the model.
    Model,
    /// Nothing but servers of the run's own processes on the loopback interface.
    None,
}

/// A reach in JSON: a word, or a list of hosts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ReachField {
    Word(String),
    Hosts(Vec<NetworkHost>),
}

/// The text that names a reach is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadReach {
    /// It is neither a word nor a host.
    #[error("{} or hosts with ports, such as \"packages.example.org:443\"", NetworkReach::WORDS.join(", "))]
    Word,
    /// One of its hosts is none.
    #[error(transparent)]
    Host(#[from] BadHost),
}

impl NetworkReach {
    /// The words, from loose to tight.
    pub const WORDS: [&str; 3] = ["full", "model", "none"];

    /// Reads a word, or hosts that are separated by commas.
    pub fn parse(text: &str) -> Result<Self, BadReach> {
        match text.trim() {
            "full" => Ok(Self::Full),
            "model" => Ok(Self::Model),
            "none" => Ok(Self::None),
            hosts if hosts.contains(':') => {
                Self::of_hosts(hosts.split(',').filter(|host| !host.trim().is_empty()))
            }
            _ => Err(BadReach::Word),
        }
    }

    /// Reads a list of hosts, which may also be a list of one word.
    pub fn of_hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Result<Self, BadReach> {
        let hosts: Vec<&str> = hosts.into_iter().map(str::trim).collect();
        match hosts.as_slice() {
            [] => Err(BadReach::Word),
            [word] if !word.contains(':') => Self::parse(word),
            hosts => {
                let hosts = hosts.iter().map(|host| NetworkHost::parse(host));
                Ok(Self::listed(hosts.collect::<Result<_, BadHost>>()?))
            }
        }
    }

    fn listed(mut hosts: Vec<NetworkHost>) -> Self {
        hosts.sort();
        hosts.dedup();
        if hosts.is_empty() {
            Self::Model
        } else {
            Self::Hosts(hosts)
        }
    }

    /// Returns whether nothing is kept from the network.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// Returns whether tools may talk to the hosts of the model, and to those that are listed.
    pub fn tools_may_use_gateway(&self) -> bool {
        match self {
            Self::Hosts(_) | Self::Model => true,
            Self::Full | Self::None => false,
        }
    }

    /// Returns the hosts that are listed.
    pub fn hosts(&self) -> &[NetworkHost] {
        match self {
            Self::Hosts(hosts) => hosts,
            Self::Full | Self::Model | Self::None => &[],
        }
    }

    /// Returns what both reaches allow.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        match (self, other) {
            (Self::Hosts(own), Self::Hosts(others)) => {
                let both = own.into_iter().filter(|host| others.contains(host));
                Self::listed(both.collect())
            }
            (own, other) if other.rank() > own.rank() => other,
            (own, _) => own,
        }
    }

    /// Returns whether this reach allows nothing that a floor does not.
    pub fn at_least(&self, floor: &Self) -> bool {
        self.clone().tightened(floor.clone()) == *self
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Full => 0,
            Self::Hosts(_) => 1,
            Self::Model => 2,
            Self::None => 3,
        }
    }
}

impl fmt::Display for NetworkReach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => formatter.write_str("full"),
            Self::Hosts(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(NetworkHost::to_string).collect();
                formatter.write_str(&hosts.join(", "))
            }
            Self::Model => formatter.write_str("model"),
            Self::None => formatter.write_str("none"),
        }
    }
}

impl TryFrom<ReachField> for NetworkReach {
    type Error = BadReach;

    fn try_from(field: ReachField) -> Result<Self, BadReach> {
        match field {
            ReachField::Word(word) => Self::parse(&word),
            ReachField::Hosts(hosts) if hosts.is_empty() => Err(BadReach::Word),
            ReachField::Hosts(hosts) => Ok(Self::listed(hosts)),
        }
    }
}

impl From<NetworkReach> for ReachField {
    fn from(reach: NetworkReach) -> Self {
        match reach {
            NetworkReach::Hosts(hosts) => Self::Hosts(hosts),
            word => Self::Word(word.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn reach(text: &str) -> NetworkReach {
        NetworkReach::parse(text).unwrap()
    }

    #[test]
    fn two_reaches_allow_what_both_allow() {
        for (one, other, both) in [
            ("full", "full", "full"),
            ("full", "a:1", "a:1"),
            ("full", "model", "model"),
            ("model", "none", "none"),
            ("a:1", "model", "model"),
            ("a:1,b:2", "b:2,c:3", "b:2"),
            ("a:1", "b:2", "model"),
            ("a:1", "none", "none"),
        ] {
            assert_eq!(reach(one).tightened(reach(other)), reach(both));
            assert_eq!(reach(other).tightened(reach(one)), reach(both));
        }
    }

    #[test]
    fn a_list_is_as_tight_as_a_list_that_holds_it() {
        assert!(reach("b:2").at_least(&reach("a:1,b:2")));
        assert!(!reach("a:1,b:2").at_least(&reach("b:2")));
        assert!(reach("model").at_least(&reach("a:1")));
        assert!(!reach("full").at_least(&reach("none")));
    }

    #[test]
    fn it_is_a_word_or_a_list_in_json() {
        for (written, text) in [
            (json!("none"), "none"),
            (json!(["b:2", "A:1", "b:2"]), "a:1, b:2"),
        ] {
            let read: NetworkReach = serde_json::from_value(written).unwrap();
            assert_eq!(read.to_string(), text);
            let again = serde_json::to_value(&read).unwrap();
            assert_eq!(serde_json::from_value::<NetworkReach>(again).unwrap(), read);
        }
        for bad in [json!("some"), json!([]), json!(["a"]), json!(7)] {
            assert!(
                serde_json::from_value::<NetworkReach>(bad.clone()).is_err(),
                "{bad}"
            );
        }
        assert_eq!(NetworkReach::of_hosts(["none"]), Ok(NetworkReach::None));
    }
}
