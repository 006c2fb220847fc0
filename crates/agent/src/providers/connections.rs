//! The HTTP clients: one for the world, one for servers without encryption.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Certificate, StatusCode};

use super::ProviderError;
use super::chat_errors::broken;
use super::roots::system_roots;

const CONNECT_TIME: Duration = Duration::from_secs(30);
/// The number of times that a server may redirect a request within its own origin.
const REDIRECTS: usize = 3;

/// An HTTP client; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Connections {
    pub(crate) client: reqwest::Client,
}

impl Connections {
    /// Prepares connections to an address; nothing is sent yet. The variables may say where the
    /// certificates of this machine are.
    pub(crate) fn open(
        address: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, ProviderError> {
        // Fails only if someone else has chosen already, and then theirs is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = if address.starts_with("https:") {
            encrypted(system_roots(variables))
        } else {
            in_the_clear(address)
        };
        let client = client.map_err(|error| broken(&error))?;
        Ok(Self { client })
    }
}

/// Makes the client for servers with encryption. A machine that keeps its certificates where we do
/// not look is asked by the library; one without any, such as a bare container, gets Mozilla's.
fn encrypted(roots: Vec<Certificate>) -> reqwest::Result<reqwest::Client> {
    if roots.is_empty() {
        let of_library = builder().build();
        return of_library.or_else(|_| builder().tls_certs_only(bundled_roots()).build());
    }
    builder().tls_certs_only(roots).build()
}

/// Makes the client for servers without encryption. Certificates take time and memory to load, and
/// are of no use without TLS.
///
/// To this machine every call is a connection of its own. It costs nothing there, while on a kept
/// connection a server that holds back small packets waits 40 ms for our acknowledgement.
fn in_the_clear(address: &str) -> reqwest::Result<reqwest::Client> {
    let plain = builder().tls_certs_only([]);
    let is_here = ["http://127.", "http://localhost", "http://[::1]"];
    if is_here.iter().any(|here| address.starts_with(here)) {
        plain.pool_max_idle_per_host(0).build()
    } else {
        plain.build()
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIME)
        .redirect(Policy::custom(|attempt| {
            if may_follow(&attempt) {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }))
        .user_agent(concat!("pi-subagents/", env!("CARGO_PKG_VERSION")))
}

/// Returns whether a redirect may be followed. A request holds the whole conversation and a key, so
/// it stays with the origin it was meant for, and only these two statuses keep the method and body
/// of the request.
fn may_follow(attempt: &Attempt<'_>) -> bool {
    let keeps_request = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let first = attempt.previous().first();
    let is_same_origin = first.is_some_and(|first| first.origin() == attempt.url().origin());
    keeps_request && is_same_origin && attempt.previous().len() <= REDIRECTS
}

fn bundled_roots() -> Vec<Certificate> {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    roots
        .filter_map(|root| Certificate::from_der(root).ok())
        .collect()
}
