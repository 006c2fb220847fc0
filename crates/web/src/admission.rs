//! Decides which requests are answered at all.
//!
//! A browser sends requests in the name of any page that is open in it. So nothing counts that it
//! sends by itself: the token is in a header that only our page sets, and a request that comes from
//! another page, or that was led here under another name, is refused before anything else is looked
//! at.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use pi_subagents_loopback::{Connection, bearer};
use pi_subagents_runs::page_address::Power;
use pi_subagents_vocabulary::Timestamp;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::codes::Codes;
use crate::own_names::OwnNames;
use crate::problem::Problem;
use crate::tokens::CurrentTokens;

/// The length of the longest body with a code, and the time that it may take: whoever sends it has
/// not shown a token yet.
const LONGEST_CODE: usize = 1 << 10;
const CODE_PATIENCE: Duration = Duration::from_secs(5);

/// Everything that a request must fit.
pub(crate) struct Gate {
    pub(crate) tokens: CurrentTokens,
    pub(crate) codes: Codes,
    pub(crate) names: OwnNames,
}

/// The rights of the page: it may load its own files and nothing else. No text ever becomes a
/// script or HTML, which the browser itself enforces with Trusted Types.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types lit-html";

/// Refuses requests that do not come from our own page, and puts the headers on every answer.
pub(crate) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let answer = match gate.names.refusal(request.method(), request.headers()) {
        Some((status, text)) => Problem::new(status, text).into_response(),
        None => next.run(request).await,
    };
    with_headers(answer)
}

/// Lets requests with a token pass, and remembers the rights of the token.
pub(crate) async fn admit(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(grant) = gate.grant(request.headers()) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        let text = "The token of this page is missing or was revoked. Open the address that pi-subagents web prints.";
        return (challenge, Problem::new(StatusCode::UNAUTHORIZED, text)).into_response();
    };
    connection.admit();
    if request.method() != Method::GET && grant == Power::ReadOnly {
        let text = "This page was opened for looking only. Open the address that pi-subagents web prints without --read-only.";
        return Problem::new(StatusCode::FORBIDDEN, text).into_response();
    }
    request.extensions_mut().insert(grant);
    next.run(request).await
}

/// Exchanges the code of an address for the token. The answer is kept by nobody on the way.
pub(crate) async fn exchange(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Connection>,
    body: Body,
) -> Result<Response, Problem> {
    let body = timeout(CODE_PATIENCE, to_bytes(body, LONGEST_CODE)).await;
    let body: Option<Value> = match body {
        Ok(Ok(body)) => serde_json::from_slice(&body).ok(),
        Ok(Err(_)) | Err(_) => None,
    };
    let code = body.as_ref().and_then(|body| body["code"].as_str());
    let token = code.and_then(|code| gate.token_for(code));
    let Some(token) = token else {
        let text = "This address was used already, or is older than a minute. pi-subagents web prints a new one.";
        return Err(Problem::new(StatusCode::UNAUTHORIZED, text));
    };
    connection.admit();
    Ok(Json(json!({ "token": token })).into_response())
}

impl Gate {
    fn grant(&self, headers: &HeaderMap) -> Option<Power> {
        self.tokens.now()?.grant(bearer(headers)?)
    }

    /// Returns the token for a code, which is used up then.
    fn token_for(&self, code: &str) -> Option<String> {
        let tokens = self.tokens.now()?;
        let power = self.codes.take(code, &tokens, Timestamp::now())?;
        Some(tokens.of(power).secret().to_owned())
    }
}

fn with_headers(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let kept = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(kept);
    answer
}
