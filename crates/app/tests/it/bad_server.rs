//! A model server that breaks every rule: a raw socket, so that nothing is in order unless a test
//! makes it so.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent_stage::AgentStage;

/// The beginning of a stream of events.
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A server, and the figures of its connections.
pub(crate) struct BadServer {
    pub(crate) address: SocketAddr,
    written: Arc<AtomicU64>,
    calls: Arc<AtomicUsize>,
}

/// One connection, whose request was read.
pub(crate) struct Connection {
    stream: TcpStream,
    written: Arc<AtomicU64>,
    /// The number of connections before it.
    pub(crate) number: usize,
}

impl BadServer {
    /// Answers every connection with `answer`, on a thread of its own.
    pub(crate) fn start(answer: impl Fn(&mut Connection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            written: Arc::default(),
            calls: Arc::default(),
        };
        let (written, calls) = (Arc::clone(&server.written), Arc::clone(&server.calls));
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut connection = Connection {
                    stream,
                    written: Arc::clone(&written),
                    number: calls.fetch_add(1, Ordering::SeqCst),
                };
                let answer = Arc::clone(&answer);
                thread::spawn(move || {
                    connection.read_request();
                    answer(&mut connection);
                });
            }
        });
        server
    }

    /// Returns the number of connections so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes that could be written to all of them.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::SeqCst)
    }

    /// Makes it the model of an agent; a call that fails is not made again.
    pub(crate) fn stage(&self, api: &str, settings: &Value) -> AgentStage {
        let stage = AgentStage::new(api, pi_subagents_testkit::llm::Script::new());
        self.install(&stage, api, settings);
        stage
    }

    fn install(&self, stage: &AgentStage, api: &str, settings: &Value) {
        let models = json!({"providers": {"fake": {
            "baseUrl": format!("http://{}/v1", self.address), "api": api, "apiKey": "sk-secret",
            "models": [{"id": "fake-model"}],
        }}});
        let models = models.to_string();
        stage.sandbox.write("home/.pi/agent/models.json", &models);
        let mut all = json!({"retry": {"enabled": false}});
        if let (Some(all), Some(more)) = (all.as_object_mut(), settings.as_object()) {
            all.extend(more.clone());
        }
        stage.settings(&all);
    }
}

impl Connection {
    /// Reads until the whole request has come; the length of the body is in its head.
    fn read_request(&mut self) {
        let mut bytes = Vec::new();
        let mut piece = [0; 8192];
        loop {
            let Ok(length @ 1..) = self.stream.read(&mut piece) else {
                return;
            };
            bytes.extend_from_slice(&piece[..length]);
            let text = String::from_utf8_lossy(&bytes).to_lowercase();
            let Some((head, _)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let lines = head.lines();
            let length = lines.filter_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map(|length| length.parse::<usize>().unwrap()).sum();
            if bytes.len() >= head.len() + 4 + length {
                return;
            }
        }
    }

    /// Writes; false when the other side has gone.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let bytes = bytes.as_ref();
        let is_written = self.stream.write_all(bytes).is_ok();
        if is_written {
            self.written
                .fetch_add(u64::try_from(bytes.len()).unwrap(), Ordering::SeqCst);
        }
        is_written
    }

    /// Writes the same again and again until the other side has gone.
    pub(crate) fn write_for_ever(&mut self, bytes: impl AsRef<[u8]>, pause: Duration) {
        while self.write(bytes.as_ref()) {
            thread::sleep(pause);
        }
    }

    /// Waits until the other side has gone.
    pub(crate) fn hold(&mut self) {
        // Nothing comes any more, so this is the end of the connection.
        _ = self.stream.read(&mut [0; 64]);
    }
}

/// Returns one event of a chat completion with the text `text`.
pub(crate) fn text_answer(text: &str) -> String {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!("data: {delta}\n\n")
}

/// The end of a chat completion.
pub(crate) fn ends() -> String {
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("data: {stop}\n\ndata: [DONE]\n\n")
}
