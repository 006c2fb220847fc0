//! Starts an agent and carries its messages: JSON-RPC, one message per line. Whatever the agent
//! prints, a line costs bounded memory and no line ends the bridge.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use pi_subagents_os::start;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::tool_means::Variable;

/// A longer line is passed over.
const LONGEST_LINE: usize = 16 << 20;

/// The number of messages that may wait on the way to the agent and back.
const WAITING: usize = 64;

/// The number of messages that are kept while an answer is waited for.
const KEPT: usize = 256;

/// Something that the agent printed.
#[derive(Debug)]
pub(crate) enum FromAgent {
    Message(Value),
    /// A line of this number of bytes, which was passed over.
    TooLong(usize),
    /// Its stdout is closed.
    Ended,
}

/// A request that did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("{method} failed: {message}")]
    Refused { method: String, message: String },
    #[error("it did not answer {method} within {seconds} s")]
    Late { method: String, seconds: u64 },
    #[error("it ended before it had answered {0}")]
    Ended(String),
}

/// A running agent.
pub(crate) struct AgentLink {
    process: Child,
    to_agent: mpsc::Sender<Vec<u8>>,
    from_agent: mpsc::Receiver<FromAgent>,
    next_id: u64,
    /// Updates that came while an answer was waited for.
    kept: VecDeque<Value>,
}

impl AgentLink {
    /// Starts the program. It belongs to the tree of the run, so its keeper ends it.
    #[expect(
        clippy::disallowed_methods,
        reason = "the agent is a part of the child that the bridge is"
    )]
    pub(crate) fn start(
        words: &[String],
        variable: Option<&Variable>,
        cwd: &Path,
    ) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(variable.map(|variable| (variable.name, &variable.value)))
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut process = start(&mut command)?;
        let stdin = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (to_agent, mut lines) = mpsc::channel::<Vec<u8>>(WAITING);
        let (sender, from_agent) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            let mut stdin = stdin;
            while let Some(line) = lines.recv().await {
                // An agent that reads no more has ended or will be ended.
                if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
                    return;
                }
            }
        });
        tokio::spawn(read_messages(stdout, sender));
        Ok(Self {
            process,
            to_agent,
            from_agent,
            next_id: 0,
            kept: VecDeque::new(),
        })
    }

    /// Sends a request and returns its id.
    pub(crate) async fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// Sends a message that gets no answer.
    pub(crate) async fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Answers a request of the agent.
    pub(crate) async fn answer(&mut self, id: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    }

    /// Answers a request that we do not know.
    pub(crate) async fn refuse(&mut self, id: &Value) {
        let error = json!({"code": -32601, "message": "method not found"});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
            .await;
    }

    async fn send(&mut self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        // The end of its stdout tells that it is gone.
        _ = self.to_agent.send(line).await;
    }

    /// Waits for the next message.
    pub(crate) async fn next(&mut self) -> FromAgent {
        match self.kept.pop_front() {
            Some(message) => FromAgent::Message(message),
            None => self.from_agent.recv().await.unwrap_or(FromAgent::Ended),
        }
    }

    /// Forgets the updates that came until now: those of an old conversation that is loaded.
    pub(crate) fn forget_updates(&mut self) {
        self.kept.clear();
    }

    /// Sends a request and waits for its answer. Requests of the agent are refused meanwhile.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, RequestError> {
        let until = Instant::now() + patience;
        let asked = self.request(method, params).await;
        let method = method.to_owned();
        loop {
            let Ok(received) = timeout_at(until, self.from_agent.recv()).await else {
                let seconds = patience.as_secs();
                return Err(RequestError::Late { method, seconds });
            };
            let message = match received {
                Some(FromAgent::Message(message)) => message,
                Some(FromAgent::TooLong(_)) => continue,
                Some(FromAgent::Ended) | None => return Err(RequestError::Ended(method)),
            };
            let is_request = message["method"].is_string();
            if is_request && !message["id"].is_null() {
                self.refuse(&message["id"]).await;
            } else if is_request {
                self.kept.push_back(message);
                if self.kept.len() > KEPT {
                    self.kept.pop_front();
                }
            } else if message["id"].as_u64() == Some(asked) {
                return outcome(message, method);
            }
        }
    }

    /// Returns how the process has ended, if it ends within a second.
    pub(crate) async fn exit(&mut self) -> Option<String> {
        let until = Instant::now() + Duration::from_secs(1);
        let status = timeout_at(until, self.process.wait()).await.ok()?.ok()?;
        Some(match status.code() {
            Some(code) => format!("it exited with code {code}"),
            None => "it was killed by a signal".to_owned(),
        })
    }
}

fn outcome(mut message: Value, method: String) -> Result<Value, RequestError> {
    match message.get("error") {
        None => Ok(message["result"].take()),
        Some(error) => {
            let message = error_text(error);
            Err(RequestError::Refused { method, message })
        }
    }
}

/// Returns what an error says, with its details.
pub(crate) fn error_text(error: &Value) -> String {
    let message = error["message"].as_str().unwrap_or("it did not say why");
    let data = &error["data"];
    let details = data["details"].as_str().or(data["message"].as_str());
    match details.or(data.as_str()) {
        Some(details) if details != message => format!("{message}: {details}"),
        _ => message.to_owned(),
    }
}

async fn read_messages(stdout: ChildStdout, sender: mpsc::Sender<FromAgent>) {
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    loop {
        let Ok(Some(line)) = next_line(&mut stdout).await else {
            _ = sender.send(FromAgent::Ended).await;
            return;
        };
        let message = match line {
            Ok(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(message) if message.is_object() => FromAgent::Message(message),
                // Some agents print banners.
                Ok(_) | Err(_) => continue,
            },
            Err(bytes) => FromAgent::TooLong(bytes),
        };
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

/// Reads a line, or the length of one that is too long; nothing at the end.
async fn next_line(
    stdout: &mut BufReader<ChildStdout>,
) -> io::Result<Option<Result<Vec<u8>, usize>>> {
    let (mut line, mut length) = (Vec::new(), 0);
    loop {
        let buffer = stdout.fill_buf().await?;
        if buffer.is_empty() {
            return Ok((length > 0).then_some(Ok(line)));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        length += piece.len();
        if length <= LONGEST_LINE {
            line.extend_from_slice(piece);
        } else {
            line = Vec::new();
        }
        let used = piece.len() + usize::from(end.is_some());
        stdout.consume(used);
        if end.is_some() {
            return Ok(Some(if length > LONGEST_LINE {
                Err(length)
            } else {
                Ok(line)
            }));
        }
    }
}
