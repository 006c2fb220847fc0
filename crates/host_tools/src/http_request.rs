//! One request, read within bounds: every user of this machine can open connections to the server.

use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A longer head no client of ours sends.
const LONGEST_HEAD: usize = 16 << 10;
/// The longest body of a client with the token.
const LONGEST_BODY: usize = 16 << 20;
/// The time for the head of a request, once its first byte has come.
const TO_ASK: Duration = Duration::from_secs(5);

/// A request with the token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// A request that is not answered as it wants.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// It is refused with this status, and the connection is closed.
    Refused(&'static str),
    /// Nobody waits for an answer.
    Gone(io::Error),
}

/// The other end of a connection is closed.
pub(crate) struct Gone;

/// Reads the requests of one connection.
pub(crate) struct RequestReader {
    stream: TcpStream,
    /// What was read beyond the last request.
    ahead: Vec<u8>,
    has_shown_token: bool,
}

/// The head of a request.
struct Head {
    method: String,
    path: String,
    length: usize,
    /// The number of its bytes.
    size: usize,
}

impl RequestReader {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
            has_shown_token: false,
        }
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Reads the next request; `None` at the end of the connection.
    pub(crate) async fn next(&mut self, token: &str) -> Result<Option<HttpRequest>, RequestError> {
        // A client with the token may keep its connection without asking.
        if self.has_shown_token && self.ahead.is_empty() && self.read().await? == 0 {
            return Ok(None);
        }
        let head = timeout(TO_ASK, self.head(token)).await;
        let Some(head) = head.map_err(|_| RequestError::Refused("408 Request Timeout"))?? else {
            return Ok(None);
        };
        self.has_shown_token = true;
        while self.ahead.len() < head.size + head.length {
            if self.read().await? == 0 {
                return Ok(None);
            }
        }
        let mut body: Vec<u8> = self.ahead.drain(..head.size + head.length).collect();
        Ok(Some(HttpRequest {
            method: head.method,
            path: head.path,
            body: body.split_off(head.size),
        }))
    }

    /// Waits until the other end is closed.
    pub(crate) async fn gone(&mut self) -> Gone {
        while self.ahead.len() < LONGEST_HEAD {
            if !matches!(self.read().await, Ok(1..)) {
                return Gone;
            }
        }
        std::future::pending().await
    }

    async fn head(&mut self, token: &str) -> Result<Option<Head>, RequestError> {
        loop {
            if let Some(end) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = std::str::from_utf8(&self.ahead[..end]);
                let head = head.map_err(|_| RequestError::Refused("400 Bad Request"))?;
                return parsed(head, token).map(Some).map_err(RequestError::Refused);
            }
            if self.ahead.len() >= LONGEST_HEAD {
                return Err(RequestError::Refused("431 Request Header Fields Too Large"));
            }
            if self.read().await? == 0 {
                return Ok(None);
            }
        }
    }

    async fn read(&mut self) -> Result<usize, RequestError> {
        let read = self.stream.read_buf(&mut self.ahead).await;
        read.map_err(RequestError::Gone)
    }
}

/// Reads a head, or returns the status with which it is refused.
fn parsed(head: &str, token: &str) -> Result<Head, &'static str> {
    let (first, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let fields = fields.lines().map(|line| line.split_once(':'));
    let fields: Option<Vec<_>> = fields.collect();
    let fields = fields.ok_or("400 Bad Request")?;
    let field = |name: &str| {
        let mut all = fields.iter();
        let found = all.find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    };
    // A page of a browser names its origin, and no client of ours does.
    if field("origin").is_some() {
        return Err("403 Forbidden");
    }
    let shown = field("authorization").and_then(|value| value.split_once(' '));
    let is_known = shown
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .is_some_and(|(_, given)| is_same(given.trim(), token));
    if !is_known {
        return Err("401 Unauthorized");
    }
    if field("transfer-encoding").is_some() {
        return Err("411 Length Required");
    }
    let length = field("content-length").unwrap_or("0");
    let length: usize = length.parse().map_err(|_| "400 Bad Request")?;
    if length > LONGEST_BODY {
        return Err("413 Content Too Large");
    }
    let mut words = first.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1")) = (words.next(), words.next(), words.next())
    else {
        return Err("400 Bad Request");
    };
    Ok(Head {
        method: method.to_owned(),
        path: path.to_owned(),
        length,
        size: head.len() + 4,
    })
}

/// Compares two words in a time that tells nothing about them.
fn is_same(given: &str, own: &str) -> bool {
    let pairs = given.bytes().zip(own.bytes());
    let differences = pairs.fold(0, |seen, (one, other)| seen | (one ^ other));
    given.len() == own.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn refusal(head: &str) -> &'static str {
        parsed(head, "word").err().unwrap_or("fine")
    }

    #[test]
    fn only_a_plain_request_with_the_token_is_read() {
        let post = |more: &str| format!("POST /mcp HTTP/1.1\r\nHost: x\r\n{more}");
        let with_token = |more: &str| post(&format!("authorization: bearer word\r\n{more}"));
        let answers = [
            post(""),
            post("Authorization: Bearer wor"),
            post("Authorization: Bearer words"),
            post("Authorization: word"),
            with_token("Origin: http://127.0.0.1"),
            with_token("Content-Length: 7"),
            with_token("Content-Length: x"),
            with_token("Content-Length: 99999999999"),
            with_token("Transfer-Encoding: chunked"),
            with_token("no field"),
            "POST /mcp\r\nAuthorization: Bearer word".to_owned(),
        ]
        .map(|head| refusal(&head).split(' ').next().unwrap().to_owned());
        assert_eq!(
            answers,
            [
                "401", "401", "401", "401", "403", "fine", "400", "413", "411", "400", "400"
            ]
        );
    }
}
