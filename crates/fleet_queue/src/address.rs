//! The address of a fleet, our key there, and the encryption, which is needed unless the server is
//! on this machine.

use std::net::IpAddr;
use std::path::PathBuf;

use async_nats::ServerAddr;
use pi_subagents_vocabulary::Secret;

use crate::error::FleetError;
use crate::names::check_name;

/// The address of a fleet, and the keys with which it is reached.
#[derive(Debug, Clone)]
pub struct Address {
    /// Its servers, as `tls://nats.example:4222`.
    pub servers: Vec<String>,
    /// The seed of our key, if the servers want one.
    pub nkey: Option<Secret>,
    /// A file with the certificate authority of the servers; without it the system's are used.
    pub authority: Option<PathBuf>,
    /// Our name: a worker's name, or a caller's. Replies come to an inbox with this name.
    pub name: String,
    /// The beginning of all names of the fleet.
    pub prefix: String,
}

impl Address {
    /// Makes the address of a fleet on one server, with the usual prefix and no key.
    pub fn new(server: &str, name: &str) -> Self {
        Self {
            servers: vec![server.to_owned()],
            nkey: None,
            authority: None,
            name: name.to_owned(),
            prefix: "pi".to_owned(),
        }
    }

    /// Returns the servers, and whether the connection must be encrypted. It must, unless all
    /// servers are on this machine.
    pub(crate) fn checked(&self) -> Result<(Vec<ServerAddr>, bool), FleetError> {
        check_name("name", &self.name)?;
        if self.servers.is_empty() {
            return Err(FleetError::NoServers);
        }
        let servers: Vec<ServerAddr> = self
            .servers
            .iter()
            .map(|one| server(one))
            .collect::<Result<_, _>>()?;
        let is_encrypted = servers.iter().any(|one| !is_loopback(one.host()));
        Ok((servers, is_encrypted))
    }
}

fn server(text: &str) -> Result<ServerAddr, FleetError> {
    let bad = |why: String| FleetError::BadServer {
        server: text.to_owned(),
        why,
    };
    let address: ServerAddr = text
        .parse()
        .map_err(|error: std::io::Error| bad(error.to_string()))?;
    if address.has_user_pass() {
        // The address is shown in errors and lists.
        let server = "…@…".to_owned();
        let why = "a password does not belong there; use a key (subagents.fleet.nkey)".to_owned();
        return Err(FleetError::BadServer { server, why });
    }
    match address.scheme() {
        "nats" | "tls" => Ok(address),
        other => Err(bad(format!(
            "it must begin with tls:// or nats://, not {other}://"
        ))),
    }
}

fn is_loopback(host: &str) -> bool {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || plain
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_of_this_machine_are_spoken_to_in_the_clear() {
        let is_encrypted = |servers: &[&str]| {
            let mut address = Address::new("", "ada");
            address.servers = servers.iter().map(|&one| one.to_owned()).collect();
            address.checked().unwrap().1
        };
        assert!(!is_encrypted(&[
            "nats://127.0.0.1:4222",
            "localhost:4223",
            "nats://[::1]:1"
        ]));
        assert!(is_encrypted(&[
            "nats://127.0.0.1:4222",
            "nats://nats.example:4222"
        ]));
        assert!(is_encrypted(&["nats.example"]));
    }

    #[test]
    fn what_cannot_be_an_address_is_named() {
        let refused = |server: &str| {
            Address::new(server, "ada")
                .checked()
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("ws://nats.example"),
            "the fleet's server \"ws://nats.example\" cannot be an address: it must begin with \
             tls:// or nats://, not ws://"
        );
        assert_eq!(
            refused("nats://ada:secret@nats.example"),
            "the fleet's server \"…@…\" cannot be an address: a password does not belong there; \
             use a key (subagents.fleet.nkey)"
        );
        let mut nowhere = Address::new("", "ada");
        nowhere.servers.clear();
        assert_eq!(nowhere.checked().unwrap_err(), FleetError::NoServers);
    }
}
