//! Decides which requests are answered at all.
//!
//! A browser sends requests in the name of any page that is open in it. So nothing counts that it
//! sends by itself: the token is in a header that only our page sets, and a request that comes from
//! another page, or that was led here under another name, is refused before anything else is looked
//! at.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::token::{Grant, Tokens};

/// Everything that a request must fit.
pub(crate) struct Gate {
    pub(crate) tokens: Tokens,
    /// The port that the server answers on. A server behind a socket of a file does not know the
    /// port under which a person reaches it.
    pub(crate) port: Option<u16>,
}

/// The rights of the page: it may load its own files and nothing else. No text ever becomes a
/// script or HTML, which the browser itself enforces with Trusted Types.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types lit-html";

/// The header in which a browser names the origin of a request.
const FETCH_SITE: &str = "sec-fetch-site";

/// Refuses requests that do not come from our own page, and puts the headers on every answer.
pub(crate) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let answer = match gate.refusal(request.method(), request.headers()) {
        Some((status, text)) => (status, text).into_response(),
        None => next.run(request).await,
    };
    with_headers(answer)
}

/// Lets requests with a token pass, and remembers the rights of the token.
pub(crate) async fn admit(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(grant) = gate.grant(request.headers()) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        let text = "The token of this page is missing or wrong. Open the address that pi-subagents web prints.\n";
        return (StatusCode::UNAUTHORIZED, challenge, text).into_response();
    };
    if request.method() != Method::GET && grant == Grant::Looking {
        let text = "This page was opened for looking only. Open the address that pi-subagents web prints without --read-only.\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    request.extensions_mut().insert(grant);
    next.run(request).await
}

impl Gate {
    fn grant(&self, headers: &HeaderMap) -> Option<Grant> {
        let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        self.tokens.grant(given.strip_prefix("Bearer ")?)
    }

    /// Returns the reason why a request is refused for every sender.
    fn refusal(&self, method: &Method, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        if !self.is_own_host(headers) {
            let text = "This server answers to 127.0.0.1 and localhost only.\n";
            return Some((StatusCode::MISDIRECTED_REQUEST, text));
        }
        if !self.is_own_page(method, headers) {
            let text = "Requests of other pages are not answered.\n";
            return Some((StatusCode::FORBIDDEN, text));
        }
        None
    }

    /// Returns whether the request names this server. Somebody else's name server may lead another
    /// name here, and such a name does not count.
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, another) = (hosts.next(), hosts.next());
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
        another.is_none() && self.is_own_name(host)
    }

    fn is_own_name(&self, host: &str) -> bool {
        let (name, port) = host.split_once(':').unwrap_or((host, "80"));
        let is_own_port = match (port.parse::<u16>(), self.port) {
            (Ok(port), Some(own)) => port == own,
            (Ok(_), None) => true,
            (Err(_), _) => false,
        };
        is_own_port && (name == "127.0.0.1" || name == "localhost")
    }

    fn is_own_page(&self, method: &Method, headers: &HeaderMap) -> bool {
        let is_own = |origin: &HeaderValue| {
            let origin = origin.to_str().unwrap_or_default();
            let origin = origin.strip_prefix("http://").unwrap_or_default();
            // Behind a socket any port may be ours, so it must be the one that was asked.
            let is_asked = headers.get(header::HOST).is_some_and(|host| host == origin);
            self.is_own_name(origin) && (self.port.is_some() || is_asked)
        };
        let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
        // A browser names the page with every request that changes something.
        let has_what_it_needs = method == Method::GET || origins.peek().is_some();
        let mut sites = headers.get_all(FETCH_SITE).iter();
        has_what_it_needs
            && origins.all(is_own)
            && sites.all(|site| site == "same-origin" || site == "none")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Token;

    fn gate() -> Gate {
        let tokens = Tokens {
            full: Token::new("full"),
            viewing: Token::new("view"),
        };
        let port = Some(4000);
        Gate { tokens, port }
    }

    fn refused(method: &Method, pairs: &[(&'static str, &'static str)]) -> Option<u16> {
        refused_by(&gate(), method, pairs)
    }

    fn refused_by(
        gate: &Gate,
        method: &Method,
        pairs: &[(&'static str, &'static str)],
    ) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let refusal = gate.refusal(method, &headers);
        refusal.map(|(status, _)| status.as_u16())
    }

    #[test]
    fn behind_a_socket_the_page_must_come_from_where_it_was_asked() {
        let gate = Gate {
            port: None,
            ..gate()
        };
        let host = ("host", "localhost:8080");
        let own = ("origin", "http://localhost:8080");
        assert_eq!(refused_by(&gate, &Method::POST, &[host, own]), None);
        assert_eq!(
            refused_by(&gate, &Method::GET, &[("host", "127.0.0.1")]),
            None
        );
        let another = ("origin", "http://localhost:8081");
        assert_eq!(
            refused_by(&gate, &Method::POST, &[host, another]),
            Some(403)
        );
        for host in ["evil.example:8080", "localhost:x", "localhost.evil:80"] {
            let asked = [("host", host)];
            assert_eq!(refused_by(&gate, &Method::GET, &asked), Some(421), "{host}");
        }
    }

    const OWN: (&str, &str) = ("host", "127.0.0.1:4000");

    #[test]
    fn only_our_own_names_are_answered() {
        assert_eq!(refused(&Method::GET, &[OWN]), None);
        assert_eq!(refused(&Method::GET, &[("host", "localhost:4000")]), None);
        for host in [
            "127.0.0.1",
            "127.0.0.1:4001",
            "evil.example:4000",
            "localhost.evil.example:4000",
            "127.0.0.1:4000.evil.example",
            "",
        ] {
            assert_eq!(
                refused(&Method::GET, &[("host", host)]),
                Some(421),
                "{host}"
            );
        }
        assert_eq!(refused(&Method::GET, &[]), Some(421));
        assert_eq!(
            refused(&Method::GET, &[OWN, ("host", "evil.example")]),
            Some(421)
        );
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        let own = ("origin", "http://127.0.0.1:4000");
        assert_eq!(refused(&Method::POST, &[OWN, own]), None);
        assert_eq!(refused(&Method::POST, &[OWN]), Some(403));
        for origin in [
            "http://127.0.0.1:4001",
            "https://127.0.0.1:4000",
            "http://evil.example",
            "null",
        ] {
            let other = ("origin", origin);
            assert_eq!(refused(&Method::POST, &[OWN, other]), Some(403), "{origin}");
            assert_eq!(refused(&Method::GET, &[OWN, other]), Some(403), "{origin}");
            assert_eq!(refused(&Method::POST, &[OWN, own, other]), Some(403));
        }
        for site in ["cross-site", "same-site", "anything"] {
            assert_eq!(refused(&Method::GET, &[OWN, (FETCH_SITE, site)]), Some(403));
        }
        for site in ["same-origin", "none"] {
            assert_eq!(refused(&Method::GET, &[OWN, (FETCH_SITE, site)]), None);
        }
    }
}
