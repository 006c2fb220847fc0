//! The messages of a client over stdin and stdout, one in a line. Every line that is no message is
//! answered, so that somebody who writes a client sees what is wrong with it.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use serde_json::Value;
use serde_json::error::Category;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder as _;

/// Reads messages from lines and writes them as lines.
pub(crate) struct LineTransport<R, W> {
    reader: BufReader<R>,
    /// The line that is being read.
    line: Vec<u8>,
    longest: usize,
    /// True while the rest of a line that is too long is passed over.
    is_too_long: bool,
    writer: Arc<Mutex<W>>,
    /// The answer to the last line that was no message, until it is written.
    refusal: Option<JoinHandle<()>>,
    /// True once the client has begun a connection in one of the two ways.
    has_begun: bool,
}

/// What was read.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Makes a transport for lines of at most so many bytes.
    pub(crate) fn new(reader: R, writer: W, longest: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            longest,
            is_too_long: false,
            writer: Arc::new(Mutex::new(writer)),
            refusal: None,
            has_begun: false,
        }
    }

    /// Reads to the end of a line. Nothing is lost if this is dropped before its end.
    async fn read_line(&mut self) -> Read {
        loop {
            let Ok(available) = self.reader.fill_buf().await else {
                return Read::End;
            };
            if available.is_empty() {
                return Read::End;
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |place| place + 1);
            if !self.is_too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            if self.line.len() > self.longest {
                self.line = Vec::new();
                self.is_too_long = true;
            }
            if newline.is_some() {
                let was_too_long = std::mem::take(&mut self.is_too_long);
                return if was_too_long {
                    Read::TooLong
                } else {
                    Read::Line
                };
            }
        }
    }

    /// Reads the message in the line, or refuses it.
    fn message(&mut self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refused> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        if !self.has_begun {
            self.check_beginning(&line)?;
        }
        let mut codec = JsonRpcMessageCodec::<RxJsonRpcMessage<RoleServer>>::new();
        let read = codec.decode(&mut BytesMut::from(&line[..]));
        read.map_err(|_| Refused::of(&line))
    }

    /// Refuses a request that comes before the connection has begun.
    fn check_beginning(&mut self, line: &[u8]) -> Result<(), Refused> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Ok(());
        };
        let meta = &message["params"]["_meta"];
        let begins = message["method"] == "initialize"
            || !meta["io.modelcontextprotocol/protocolVersion"].is_null();
        self.has_begun = begins;
        let needs_beginning = message["method"]
            .as_str()
            .is_some_and(|method| !["ping", "server/discover"].contains(&method));
        let id = id_in(&message);
        if begins || !needs_beginning || id.is_none() {
            return Ok(());
        }
        Err(Refused {
            id,
            code: ErrorCode::INVALID_REQUEST,
            words: "The connection has not begun: send initialize first, or begin as version 2026-07-28 does, with io.modelcontextprotocol/protocolVersion, clientInfo and clientCapabilities in the _meta of every request.",
        })
    }

    /// Answers a line that was refused.
    fn refuse(&mut self, refused: Refused) {
        let error = ErrorData::new(refused.code, refused.words, None);
        let sent = self.send(TxJsonRpcMessage::<RoleServer>::error(error, refused.id));
        self.refusal = Some(tokio::spawn(async move {
            // A client that is gone needs no answer.
            _ = sent.await;
        }));
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                // A client that reads nothing is not read from either.
                _ = refusal.await;
                self.refusal = None;
            }
            let refused = match self.read_line().await {
                Read::End => return None,
                Read::TooLong => Refused {
                    id: None,
                    code: ErrorCode::INVALID_REQUEST,
                    words: "The line is longer than 16 MB and was not read.",
                },
                Read::Line => match self.message() {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(refused) => refused,
                },
            };
            self.refuse(refused);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

/// A line that is no message, and the answer to it.
#[derive(Debug, PartialEq)]
struct Refused {
    id: Option<RequestId>,
    code: ErrorCode,
    words: &'static str,
}

impl Refused {
    /// Says what is wrong with a line that could not be read.
    fn of(line: &[u8]) -> Self {
        let (id, code, words) = match serde_json::from_slice::<Value>(line) {
            Ok(message) => (
                id_in(&message),
                ErrorCode::INVALID_REQUEST,
                "The line is not a message of the protocol.",
            ),
            Err(error) if error.classify() == Category::Syntax && is_deep(line) => (
                id_at_top(line),
                ErrorCode::INVALID_REQUEST,
                "The message is nested too deeply and was not read.",
            ),
            Err(_) => (None, ErrorCode::PARSE_ERROR, "The line is not JSON."),
        };
        Self { id, code, words }
    }
}

fn id_in(message: &Value) -> Option<RequestId> {
    serde_json::from_value(message.get("id")?.clone()).ok()
}

/// The number of levels that a message may have; the reader of JSON has this limit.
const DEEPEST: usize = 127;

/// Returns whether objects and lists are nested too deeply in a text of JSON.
fn is_deep(line: &[u8]) -> bool {
    levels(line).any(|(_, level)| level > DEEPEST)
}

/// Returns each byte outside of texts with its level.
fn levels(line: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let (mut level, mut is_text, mut is_escaped) = (0_usize, false, false);
    line.iter().enumerate().filter_map(move |(place, byte)| {
        if is_text {
            is_text = *byte != b'"' || is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            return None;
        }
        match byte {
            b'"' => is_text = true,
            b'{' | b'[' => level += 1,
            b'}' | b']' => level = level.saturating_sub(1),
            _ => {}
        }
        Some((place, level))
    })
}

/// Returns the id in a message that is nested too deeply to be read: the value of the field `id` of
/// the outermost object.
fn id_at_top(line: &[u8]) -> Option<RequestId> {
    let field = br#""id""#;
    let mut colons = levels(line).filter(|(place, level)| *level == 1 && line[*place] == b':');
    let after = colons.find_map(|(colon, _)| {
        let before = line[..colon].trim_ascii_end().strip_suffix(field)?;
        // A quote after a backslash is inside of another name.
        (!before.ends_with(b"\\")).then_some(&line[colon + 1..])
    })?;
    let end = after.iter().position(|byte| [b',', b'}'].contains(byte))?;
    serde_json::from_slice(after[..end].trim_ascii()).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn refused(line: &str) -> (Option<RequestId>, i32) {
        let refused = Refused::of(line.as_bytes());
        (refused.id, refused.code.0)
    }

    #[test]
    fn every_line_that_is_no_message_has_its_answer() {
        assert_eq!(refused("{\"jsonrpc\":"), (None, -32700));
        assert_eq!(refused("}}}garbage"), (None, -32700));
        assert_eq!(refused("[]"), (None, -32600));
        assert_eq!(
            refused(r#"{"id": "a", "method": 5}"#),
            (Some(RequestId::String("a".into())), -32600)
        );
    }

    #[test]
    fn a_deep_request_is_refused_by_its_id() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let number = Some(RequestId::Number(7));
        let before = format!(r#"{{"jsonrpc":"2.0","id":7,"params":{{"x":{deep}}}}}"#);
        assert_eq!(refused(&before), (number.clone(), -32600));
        let after = format!(r#"{{"params":{{"id":1,"x":{deep}}}, "a\"id":2, "id" : 7}}"#);
        assert_eq!(refused(&after), (number, -32600));
        assert_eq!(refused(&deep), (None, -32600));
    }
}
