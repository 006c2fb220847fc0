//! The head of a request at the gateway. Pure.

use pi_subagents_vocabulary::NetworkHost;

/// More headers no program sends to a proxy.
const MOST_HEADERS: usize = 100;

/// A head that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    /// The host that is asked for.
    pub(super) target: NetworkHost,
    /// The value of `Proxy-Authorization`.
    pub(super) authorization: Option<Vec<u8>>,
    /// The head as the host itself gets it; `None` if everything is passed on unread (`CONNECT`).
    pub(super) forwarded: Option<Vec<u8>>,
    /// The number of bytes that it took.
    pub(super) length: usize,
}

/// The result of reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadHead {
    /// More bytes are needed.
    Partial,
    /// It is not a request to a proxy.
    Bad,
    /// The head is whole.
    Whole(RequestHead),
}

/// Reads the head at the beginning of some bytes.
pub(super) fn read(bytes: &[u8]) -> ReadHead {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return ReadHead::Partial,
        Err(_) => return ReadHead::Bad,
    };
    match head(&request, length) {
        Some(head) => ReadHead::Whole(head),
        None => ReadHead::Bad,
    }
}

fn head(request: &httparse::Request<'_, '_>, length: usize) -> Option<RequestHead> {
    let (method, path) = (request.method?, request.path?);
    let authorization = value(request, "proxy-authorization");
    if method == "CONNECT" {
        return Some(RequestHead {
            target: NetworkHost::parse(path).ok()?,
            authorization,
            forwarded: None,
            length,
        });
    }
    let (target, rest) = absolute(path)?;
    // A host that serves several names would take the other one.
    if value(request, "host").is_some_and(|host| !is_same(&host, &target)) {
        return None;
    }
    Some(RequestHead {
        forwarded: Some(forwarded(request, method, &rest)),
        target,
        authorization,
        length,
    })
}

fn value(request: &httparse::Request<'_, '_>, name: &str) -> Option<Vec<u8>> {
    let mut headers = request.headers.iter();
    let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(header.value.to_vec())
}

/// Splits `http://host:port/path` into the host and what the host itself is asked for.
fn absolute(path: &str) -> Option<(NetworkHost, String)> {
    let rest = path.strip_prefix("http://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, asked) = rest.split_at(end);
    let asked = if asked.starts_with('/') {
        asked.to_owned()
    } else {
        format!("/{asked}")
    };
    Some((with_port(authority)?, asked))
}

/// Reads a host with or without a port.
fn with_port(authority: &str) -> Option<NetworkHost> {
    NetworkHost::parse(authority)
        .or_else(|_| NetworkHost::new(authority, 80))
        .ok()
}

fn is_same(header: &[u8], target: &NetworkHost) -> bool {
    let header = std::str::from_utf8(header).ok();
    header.and_then(with_port).as_ref() == Some(target)
}

/// Writes the head for the host: without what was meant for the proxy, and for one answer only, so
/// that the next request is looked at again.
fn forwarded(request: &httparse::Request<'_, '_>, method: &str, path: &str) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
    for header in &*request.headers {
        let name = header.name.to_ascii_lowercase();
        if name.starts_with("proxy-") || name == "connection" || name == "keep-alive" {
            continue;
        }
        head.extend_from_slice(header.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(header.value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn whole(text: &str) -> RequestHead {
        match read(text.as_bytes()) {
            ReadHead::Whole(head) => head,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn connect_is_passed_on_unread() {
        let text = "CONNECT Api.Example:443 HTTP/1.1\r\nProxy-Authorization: Basic x\r\n\r\nrest";
        assert_eq!(
            whole(text),
            RequestHead {
                target: NetworkHost::parse("api.example:443").unwrap(),
                authorization: Some(b"Basic x".to_vec()),
                forwarded: None,
                length: text.len() - 4,
            }
        );
    }

    #[test]
    fn a_plain_request_is_made_one_for_the_host_itself() {
        let head = whole(
            "POST http://127.0.0.1:8080/v1?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\
             Proxy-Authorization: Basic x\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n",
        );
        assert_eq!(head.target, NetworkHost::parse("127.0.0.1:8080").unwrap());
        assert_eq!(
            String::from_utf8(head.forwarded.unwrap()).unwrap(),
            "POST /v1?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn what_is_not_for_a_proxy_is_bad() {
        for text in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            "GET http://user@a.example/ HTTP/1.1\r\n\r\n",
            "CONNECT a.example HTTP/1.1\r\n\r\n",
            "CONNECT 127.1:80 HTTP/1.1\r\n\r\n",
            "\0\r\n\r\n",
        ] {
            assert_eq!(read(text.as_bytes()), ReadHead::Bad, "{text}");
        }
        assert_eq!(read(b"CONNECT a.example:443 HT"), ReadHead::Partial);
    }
}
