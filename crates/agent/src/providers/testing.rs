//! A server that plays raw HTTP answers, for cases that the scripted server of the testkit cannot
//! play.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Plays one raw HTTP answer after the other and keeps the requests.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) requests: Arc<Mutex<Vec<Recorded>>>,
}

#[derive(Clone)]
pub(super) struct Recorded {
    pub(super) head: String,
    pub(super) body: Value,
}

impl Server {
    pub(super) async fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                kept.lock().unwrap().push(request);
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        });
        Self { url, requests }
    }

    pub(super) fn requests(&self) -> Vec<Recorded> {
        self.requests.lock().unwrap().clone()
    }
}

pub(super) async fn read_request(stream: &mut TcpStream) -> Recorded {
    let mut bytes = Vec::new();
    loop {
        stream.read_buf(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        });
        if body.len() >= length.unwrap_or(0) {
            return Recorded {
                head: head.to_owned(),
                body: serde_json::from_str(body).unwrap(),
            };
        }
    }
}

pub(super) fn events(chunks: &[Value]) -> String {
    let mut text =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            .to_owned();
    for chunk in chunks {
        text.extend(["data: ", &chunk.to_string(), "\n\n"]);
    }
    text
}

pub(super) fn whole(chunks: &[Value]) -> String {
    events(chunks) + "data: [DONE]\n\n"
}

pub(super) fn failure(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
