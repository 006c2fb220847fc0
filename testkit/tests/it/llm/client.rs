//! An HTTP client of a few lines, so that the bytes of the server are seen as they are.

use std::io::{Read, Write};
use std::net::TcpStream;

use pi_subagents_testkit::llm::LlmServer;
use serde_json::{Value, json};

/// Sends a request with HTTP/1.0, whose answers are not cut into chunks.
pub(super) fn send(server: &LlmServer, path: &str, body: &Value) -> TcpStream {
    send_as("HTTP/1.0", server, path, body)
}

/// Sends a request with this version of HTTP.
pub(super) fn send_as(version: &str, server: &LlmServer, path: &str, body: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST {path} {version}\r\nhost: localhost\r\nauthorization: Bearer test-key\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

/// Reads to the end of the connection: the headers and the body.
pub(super) fn read(mut stream: TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    // A connection that is dropped may also end with an error; what came is what counts.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    match text.split_once("\r\n\r\n") {
        Some((head, body)) => (head.to_owned(), body.to_owned()),
        None => (text, String::new()),
    }
}

/// Asks in the chat completions format and returns the whole text that was streamed.
pub(super) fn say(server: &LlmServer, text: &str) -> String {
    let (_, body) = read(send(
        server,
        "/v1/chat/completions",
        &chat("fake-model", text),
    ));
    frames(&body)
        .iter()
        .filter_map(|frame| frame["choices"][0]["delta"]["content"].as_str())
        .collect()
}

/// Returns the body of a streaming chat completions request.
pub(super) fn chat(model: &str, text: &str) -> Value {
    json!({"model": model, "stream": true, "messages": [{"role": "user", "content": text}]})
}

/// Returns the data of each frame; `[DONE]` and broken JSON become strings.
pub(super) fn frames(body: &str) -> Vec<Value> {
    body.split_terminator("\n\n")
        .map(|frame| {
            let (_, data) = frame.split_once("data: ").unwrap();
            serde_json::from_str(data).unwrap_or_else(|_| json!(data))
        })
        .collect()
}
