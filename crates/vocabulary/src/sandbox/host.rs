//! A host and a port that a child may talk to.

use std::fmt;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host and a port, such as `packages.example.org:443`. The name stands in lower case, without a dot at
/// its end; an IPv6 address stands in brackets.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct NetworkHost {
    host: String,
    port: u16,
}

/// The text that names a host is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a host with a port, such as \"packages.example.org:443\"")]
pub struct BadHost(String);

/// The longest name that the domain name system has.
const LONGEST_NAME: usize = 253;

impl NetworkHost {
    /// Makes a host of its name or address, and its port.
    pub fn new(host: &str, port: u16) -> Result<Self, BadHost> {
        let bad = || BadHost(host.chars().take(LONGEST_NAME).collect());
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = match bare.unwrap_or(host).parse::<IpAddr>() {
            Ok(address) => address.to_string(),
            Err(_) if bare.is_some() => return Err(bad()),
            Err(_) => name(host).ok_or_else(bad)?,
        };
        Ok(Self { host, port })
    }

    /// Reads a host as somebody wrote it.
    pub fn parse(text: &str) -> Result<Self, BadHost> {
        let bad = || BadHost(text.chars().take(LONGEST_NAME).collect());
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(bad)?;
        // `::1:443` could mean two things.
        if host.contains(':') && !host.starts_with('[') {
            return Err(bad());
        }
        let is_number = port.bytes().all(|digit| digit.is_ascii_digit());
        let port = port.parse().ok().filter(|port| is_number && *port != 0);
        Self::new(host, port.ok_or_else(bad)?).map_err(|_| bad())
    }

    /// Returns the name or the address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Returns a name as it is compared, or `None` if it is not the name of a host.
fn name(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_letter)
    };
    // A name that ends in a number is read as an address by some programs: `127.1`, `0x7f.1`.
    let last = host.rsplit('.').next()?;
    let is_number = last.starts_with(|letter: char| letter.is_ascii_digit());
    let fits = host.len() <= LONGEST_NAME && host.split('.').all(is_label) && !is_number;
    fits.then(|| host.to_ascii_lowercase())
}

impl fmt::Display for NetworkHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

impl TryFrom<String> for NetworkHost {
    type Error = BadHost;

    fn try_from(text: String) -> Result<Self, BadHost> {
        Self::parse(&text)
    }
}

impl From<NetworkHost> for String {
    fn from(host: NetworkHost) -> Self {
        host.to_string()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_a_port() {
        let read = |text: &str| NetworkHost::parse(text).map(|host| host.to_string());
        for (text, expected) in [
            ("packages.example.org:443", "packages.example.org:443"),
            (" Api.Example.ORG.:443 ", "api.example.org:443"),
            ("localhost:8080", "localhost:8080"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::1]:443", "[::1]:443"),
            ("[0:0::1]:443", "[::1]:443"),
        ] {
            assert_eq!(read(text), Ok(expected.to_owned()), "{text}");
        }
        for text in [
            "",
            ":",
            "a",
            "a:",
            ":443",
            "a:0",
            "a:+1",
            "a:65536",
            "a b:1",
            "https://a:443",
            "a/b:1",
            "*:443",
            "*.a.b:443",
            "::1:443",
            "[::1:443",
            "[a]:443",
            "127.1:80",
            "0x7f.1:80",
            "-a:1",
            "a..b:1",
            "ä.de:1",
        ] {
            assert_eq!(read(text), Err(BadHost(text.to_owned())), "{text}");
        }
    }
}
