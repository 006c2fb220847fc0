//! The HTTP client all calls share.

use std::time::Duration;

use genai::Client;
use reqwest::Certificate;

use super::chat_errors::broken;

const CONNECT_TIME: Duration = Duration::from_secs(30);

/// The HTTP client; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Connections {
    pub(super) client: Client,
}

impl Connections {
    /// Prepares connections; nothing is sent yet.
    pub(crate) fn open() -> Result<Self, genai::Error> {
        // Fails only if someone else has chosen already, and then theirs is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A machine without certificates of its own, such as a bare container, gets Mozilla's.
        let http = builder()
            .build()
            .or_else(|_| builder().tls_certs_only(bundled_roots()).build())
            .map_err(|error| genai::Error::Internal(broken(&error).message))?;
        Ok(Self {
            client: Client::builder().with_reqwest(http).build()?,
        })
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIME)
        .user_agent(concat!("pi-subagents/", env!("CARGO_PKG_VERSION")))
}

fn bundled_roots() -> Vec<Certificate> {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    roots
        .filter_map(|root| Certificate::from_der(root).ok())
        .collect()
}
