//! A server at an address: the streamable HTTP of the protocol, over the HTTP client that models are
//! asked with, so that certificates, redirects and times are the same.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use http::{HeaderName, HeaderValue};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::meter::{MEGABYTES, Meter};

const SESSION: &str = "Mcp-Session-Id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// The bytes of an answer with an error that are shown.
const LONGEST_ERROR: usize = 300;

/// The reason why an answer was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum AddressError {
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error("it sent more than {MEGABYTES} MB")]
    TooMuch,
}

type Failure = StreamableHttpError<AddressError>;

/// Asks one server.
#[derive(Clone)]
pub(super) struct MeteredClient {
    pub(super) client: reqwest::Client,
    pub(super) meter: Meter,
}

impl MeteredClient {
    fn with_headers(
        request: RequestBuilder,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> RequestBuilder {
        let request = request.header(ACCEPT, format!("{JSON}, {EVENTS}"));
        let request = request.headers(headers.into_iter().collect());
        match session {
            Some(session) => request.header(SESSION, session),
            None => request,
        }
    }

    /// Reads a body as far as the server may send.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>, AddressError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if !self.meter.take(chunk.len()) {
                return Err(AddressError::TooMuch);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let meter = self.meter.clone();
        let metered = response
            .bytes_stream()
            .map_err(AddressError::from)
            .map(move |chunk| {
                let chunk = chunk?;
                if meter.take(chunk.len()) {
                    Ok(chunk)
                } else {
                    Err(AddressError::TooMuch)
                }
            });
        SseStream::from_bytes_stream(Box::pin(metered)).boxed()
    }

    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let body = self.body(response).await.unwrap_or_default();
        let shown = String::from_utf8_lossy(&body[..body.len().min(LONGEST_ERROR)]).into_owned();
        let gap = if shown.is_empty() { "" } else { ": " };
        unexpected(format!("HTTP {status}{gap}{shown}"))
    }
}

fn unexpected(words: impl Display) -> Failure {
    Failure::UnexpectedServerResponse(words.to_string().into())
}

impl StreamableHttpClient for MeteredClient {
    type Error = AddressError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let request = self.client.post(uri.as_ref());
        let request = Self::with_headers(request, session_id.as_deref(), custom_headers);
        let response = request.json(&message).send().await.map_err(http)?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            StatusCode::NOT_FOUND if session_id.is_some() => return Err(Failure::SessionExpired),
            status if status.is_success() => {}
            _ => return Err(self.refused(response).await),
        }
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let (kind, session) = (
            header(CONTENT_TYPE.as_str()).unwrap_or_default(),
            header(SESSION),
        );
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(
                self.events(response),
                session,
            ));
        }
        let body = self.body(response).await.map_err(Failure::Client)?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            // Nobody waits for an answer to anything else.
            Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(error) => Err(unexpected(format!(
                "it sent no answer of the protocol: {error}"
            ))),
        }
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        _session_id: Arc<str>,
        _auth_header: Option<String>,
        _custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        Err(Failure::ServerDoesNotSupportDeleteSession)
    }

    /// Opens no stream beside the answers: an agent waits for nothing that it has not asked for.
    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session_id: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _auth_header: Option<String>,
        _custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        Err(Failure::ServerDoesNotSupportSse)
    }
}

fn http(error: reqwest::Error) -> Failure {
    // The address may be in the record, but no key is in it.
    Failure::Client(AddressError::Http(error))
}
