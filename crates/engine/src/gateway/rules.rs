//! Who may pass the gateway, and to where. Pure.

use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pi_subagents_vocabulary::NetworkHost;

/// The rules of one gateway.
#[derive(Debug, Clone)]
pub(crate) struct GatewayRules {
    /// The value of `Proxy-Authorization` that opens it.
    authorization: String,
    model_hosts: Vec<NetworkHost>,
    listed_hosts: Vec<NetworkHost>,
}

/// A way that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To an address in any network: the user's own configuration names this host, or this address.
    Anywhere,
    /// To addresses of the public network: a name that is listed for one reason must not lead to a
    /// service of this machine.
    Public,
}

impl GatewayRules {
    pub(crate) fn new(
        token: &str,
        model_hosts: Vec<NetworkHost>,
        listed_hosts: Vec<NetworkHost>,
    ) -> Self {
        let pair = BASE64_STANDARD.encode(format!("run:{token}"));
        Self {
            authorization: format!("Basic {pair}"),
            model_hosts,
            listed_hosts,
        }
    }

    /// Returns whether a request brings the word of this run.
    pub(super) fn is_authorized(&self, given: Option<&[u8]>) -> bool {
        let expected = self.authorization.as_bytes();
        let Some(given) = given.filter(|given| given.len() == expected.len()) else {
            return false;
        };
        // All bytes are compared, so that the time tells nothing.
        let pairs = given.iter().zip(expected);
        pairs.fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
    }

    /// Returns the way to a host; `None` if there is none.
    pub(super) fn way_to(&self, host: &NetworkHost) -> Option<Way> {
        let is_literal = host.host() == "localhost" || host.host().parse::<IpAddr>().is_ok();
        if self.model_hosts.contains(host) {
            Some(Way::Anywhere)
        } else if self.listed_hosts.contains(host) {
            Some(if is_literal {
                Way::Anywhere
            } else {
                Way::Public
            })
        } else {
            None
        }
    }
}

impl Way {
    /// Returns whether this way leads to an address.
    pub(super) fn leads_to(self, address: IpAddr) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Public => is_public(address),
        }
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_broadcast()
                || address.is_multicast()
                || address.is_documentation()
                || first == 0
                || is_shared)
        }
        IpAddr::V6(address) => match address.to_ipv4() {
            Some(inner) => is_public(IpAddr::V4(inner)),
            None => {
                !(address.is_loopback()
                    || address.is_unspecified()
                    || address.is_multicast()
                    || address.is_unique_local()
                    || address.is_unicast_link_local())
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn host(text: &str) -> NetworkHost {
        NetworkHost::parse(text).unwrap()
    }

    fn rules() -> GatewayRules {
        GatewayRules::new(
            "word",
            vec![host("api.example:443"), host("127.0.0.1:8080")],
            vec![host("crates.example:443"), host("10.0.0.1:80")],
        )
    }

    #[test]
    fn only_listed_hosts_and_ports_have_a_way() {
        let ways = [
            ("api.example:443", Some(Way::Anywhere)),
            ("API.example.:443", Some(Way::Anywhere)),
            ("127.0.0.1:8080", Some(Way::Anywhere)),
            ("crates.example:443", Some(Way::Public)),
            ("10.0.0.1:80", Some(Way::Anywhere)),
            ("api.example:80", None),
            ("other.example:443", None),
            ("sub.api.example:443", None),
            ("127.0.0.1:8081", None),
        ];
        for (text, way) in ways {
            assert_eq!(rules().way_to(&host(text)), way, "{text}");
        }
    }

    #[test]
    fn a_listed_name_leads_to_the_public_network_only() {
        let public = ["1.1.1.1", "2606:4700::1111"];
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "::ffff:127.0.0.1",
            "fd00::1",
            "fe80::1",
        ];
        let leads = |text: &str| Way::Public.leads_to(text.parse().unwrap());
        assert!(public.into_iter().all(leads));
        assert!(!private.into_iter().any(leads));
    }

    #[test]
    fn the_word_opens_and_nothing_else_does() {
        let word = BASE64_STANDARD.encode("run:word");
        assert!(rules().is_authorized(Some(format!("Basic {word}").as_bytes())));
        assert!(!rules().is_authorized(Some(b"Basic cnVuOndvcmU=")));
        assert!(!rules().is_authorized(None));
    }
}
