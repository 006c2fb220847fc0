//! The names of this server, and the requests that come from its own page.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};

/// The header in which a browser names the origin of a request.
const FETCH_SITE: &str = "sec-fetch-site";

/// The names under which a server answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnNames {
    /// The port that the server answers on. A server behind a socket of a file does not know the
    /// port under which a person reaches it.
    pub(crate) port: Option<u16>,
}

impl OwnNames {
    /// Returns the reason why a request is refused for every sender.
    pub(crate) fn refusal(
        self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Option<(StatusCode, &'static str)> {
        if !self.is_own_host(headers) {
            let text = "This server answers to 127.0.0.1 and localhost only.";
            return Some((StatusCode::MISDIRECTED_REQUEST, text));
        }
        if !self.is_own_page(method, headers) {
            let text = "Requests of other pages are not answered.";
            return Some((StatusCode::FORBIDDEN, text));
        }
        None
    }

    /// Returns whether the request names this server. Somebody else's name server may lead another
    /// name here, and such a name does not count.
    fn is_own_host(self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, another) = (hosts.next(), hosts.next());
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
        another.is_none() && self.is_own_name(host)
    }

    fn is_own_name(self, host: &str) -> bool {
        let (name, port) = host.split_once(':').unwrap_or((host, "80"));
        // A number for a program may have a sign, and a port has none.
        let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
        let is_own_port = match (port.parse::<u16>(), self.port) {
            _ if !is_number => false,
            (Ok(port), Some(own)) => port == own,
            (Ok(_), None) => true,
            (Err(_), _) => false,
        };
        is_own_port && (name == "127.0.0.1" || name == "localhost")
    }

    fn is_own_page(self, method: &Method, headers: &HeaderMap) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    const OWN_PORT: OwnNames = OwnNames { port: Some(4000) };

    fn refused(method: &Method, pairs: &[(&'static str, &'static str)]) -> Option<u16> {
        refused_by(OWN_PORT, method, pairs)
    }

    fn refused_by(
        names: OwnNames,
        method: &Method,
        pairs: &[(&'static str, &'static str)],
    ) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let refusal = names.refusal(method, &headers);
        refusal.map(|(status, _)| status.as_u16())
    }

    #[test]
    fn behind_a_socket_the_page_must_come_from_where_it_was_asked() {
        let gate = OwnNames { port: None };
        let host = ("host", "localhost:8080");
        let own = ("origin", "http://localhost:8080");
        assert_eq!(refused_by(gate, &Method::POST, &[host, own]), None);
        assert_eq!(
            refused_by(gate, &Method::GET, &[("host", "127.0.0.1")]),
            None
        );
        let another = ("origin", "http://localhost:8081");
        assert_eq!(refused_by(gate, &Method::POST, &[host, another]), Some(403));
        for host in ["evil.example:8080", "localhost:x", "localhost.evil:80"] {
            let asked = [("host", host)];
            assert_eq!(refused_by(gate, &Method::GET, &asked), Some(421), "{host}");
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
            "127.0.0.1:+4000",
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
