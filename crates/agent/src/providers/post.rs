//! Sends a request and judges the response before the answer.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{CONTENT_ENCODING, LOCATION};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tracing::debug;

use super::chat_errors::{broken, refused, silent};
use super::limits::{ERROR_BYTES, ERROR_TIME};
use super::{Connections, ProviderError};

/// A request that is ready to be sent.
pub(super) struct Post<'a> {
    pub(super) url: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
    /// The time that the headers of the answer may take; `None` waits for ever.
    pub(super) patience: Option<Duration>,
    pub(super) connections: &'a Connections,
}

impl Post<'_> {
    /// Sends the request; the body of a success is left to be read.
    pub(super) async fn send(self) -> Result<Response, ProviderError> {
        let mut request = self.connections.client.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let begun = Instant::now();
        let sent = request.json(&self.body).send();
        let response = match self.patience {
            Some(patience) => timeout(patience, sent).await.map_err(|_| silent())?,
            None => sent.await,
        };
        let response = response.map_err(|error| broken(&error))?;
        let seconds = begun.elapsed().as_secs_f64();
        debug!(
            status = response.status().as_u16(),
            seconds, "server answered"
        );
        if response.status().is_redirection() {
            return Err(redirected(&response));
        }
        if !response.status().is_success() {
            return Err(failed(response).await);
        }
        // We do not ask for compression, and a few compressed bytes can mean gigabytes.
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING)
            && encoding != "identity"
        {
            return Err(ProviderError::permanent(format!(
                "The server compressed its answer ({encoding:?}) although nobody asked for it."
            )));
        }
        Ok(response)
    }
}

/// Reads as much of an error as is worth it, then drops the connection.
async fn failed(mut response: Response) -> ProviderError {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let mut body = Vec::new();
    let read = async {
        // An error that cannot be read to its end is still an error.
        while let Ok(Some(piece)) = response.chunk().await {
            let room = ERROR_BYTES - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if body.len() == ERROR_BYTES {
                break;
            }
        }
    };
    _ = timeout(ERROR_TIME, read).await;
    refused(status, &String::from_utf8_lossy(&body), &headers)
}

fn redirected(response: &Response) -> ProviderError {
    let status = response.status().as_u16();
    let from = response.url();
    let target = response.headers().get(LOCATION);
    let target = target.and_then(|target| from.join(target.to_str().ok()?).ok());
    let origin = |url: &Url| url.origin().ascii_serialization();
    let message = match target {
        Some(target) if target.origin() != from.origin() => format!(
            "{status}: {} redirects to {}, which is not followed: the conversation and the key are meant for the first. If the second is right, make it the provider's baseUrl.",
            origin(from),
            origin(&target)
        ),
        Some(_) => format!(
            "{status}: {} redirects in a circle, or not to a place for the same request. Check the provider's baseUrl.",
            origin(from)
        ),
        None => format!("{status}: {} redirects to nowhere.", origin(from)),
    };
    ProviderError::permanent(message)
}
