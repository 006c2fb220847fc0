//! The stage for the tests of the web page: a server in a sandbox, and requests as any program
//! could send them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use pi_subagents_testkit::sandbox::{RunningCommand, SandboxCommand};
use pi_subagents_testkit::{Signal, wait_until};
use serde_json::{Value, json};

use crate::stage::Stage;

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A page that is served in a sandbox.
pub(crate) struct WebStage {
    pub(crate) stage: Stage,
    pub(crate) running: RunningCommand,
    /// The address that was printed. Its code is good once.
    pub(crate) address: String,
    /// The address without the code.
    pub(crate) url: String,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl WebStage {
    pub(crate) fn new() -> Self {
        Self::of(Stage::new(), &[])
    }

    /// Serves the page of a sandbox, with these options.
    pub(crate) fn of(stage: Stage, options: &[&str]) -> Self {
        let (running, address) = serve(&stage, options);
        Self {
            stage,
            running,
            url: without_code(&address),
            address,
        }
    }

    /// Ends the server.
    pub(crate) fn stop(&mut self) {
        self.running.kill(Signal::INT);
        until("the server ends", || !self.running.is_running());
    }

    /// Serves the page again on the same port.
    pub(crate) fn serve_again(&mut self) {
        let port = self.port().to_string();
        (self.running, self.address) = serve(&self.stage, &["--port", &port]);
        self.url = without_code(&self.address);
    }

    pub(crate) fn port(&self) -> u16 {
        let rest = self.url.strip_prefix("http://127.0.0.1:").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// The token of a file in the agent directory.
    pub(crate) fn token(&self, name: &str) -> String {
        let file = self.stage.sandbox.agent_dir().join(name);
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// A GET with the token, as the page sends it.
    pub(crate) fn get(&self, path: &str) -> Answered {
        let token = format!("Bearer {}", self.token("subagents-web-token"));
        self.ask("GET", path, &[("Authorization", &token)], "")
    }

    /// The JSON of such an answer.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// A POST with the token and the origin, as the page sends it.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answered {
        let token = format!("Bearer {}", self.token("subagents-web-token"));
        let origin = format!("http://127.0.0.1:{}", self.port());
        let headers = [
            ("Authorization", token.as_str()),
            ("Origin", origin.as_str()),
            ("Content-Type", "application/json"),
        ];
        self.ask("POST", path, &headers, &body.to_string())
    }

    /// Exchanges the code of an address for a token, as the page does.
    pub(crate) fn exchange(&self, address: &str) -> Answered {
        let code = code_of(address);
        let origin = format!("http://127.0.0.1:{}", self.port());
        let body = json!({ "code": code }).to_string();
        self.ask("POST", "/v1/token", &[("Origin", &origin)], &body)
    }

    /// A request with these headers. `Host` is right unless another is given.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answered {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let own = format!("127.0.0.1:{}", self.port());
        let has_host = headers.iter().any(|(name, _)| *name == "Host");
        let host = if has_host {
            None
        } else {
            Some(("Host", &*own))
        };
        let headers = headers.iter().copied().chain(host);
        let headers: Vec<String> = headers
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let headers = headers.concat();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        // A server that has refused may have closed before it has read all.
        _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        Answered::parse(&String::from_utf8_lossy(&answer))
    }

    /// Opens the stream of a tab and reads it until a piece fits; returns all pieces so far.
    pub(crate) fn follow(&self, query: &str, mut fits: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (port, token) = (self.port(), self.token("subagents-web-token"));
        let request = format!(
            "GET /v1/stream?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let (mut read, mut pieces) = (String::new(), Vec::new());
        let mut buffer = vec![0; 65536];
        loop {
            let length = stream.read(&mut buffer).unwrap();
            assert!(length > 0, "the stream ended: {read}");
            read.push_str(&String::from_utf8_lossy(&buffer[..length]));
            while let Some((piece, rest)) = read.split_once("\n\n") {
                if let Some(at) = piece.find("data: ") {
                    let piece: Value = serde_json::from_str(&piece[at + 6..]).unwrap();
                    let is_last = fits(&piece);
                    pieces.push(piece);
                    if is_last {
                        return pieces;
                    }
                }
                read = rest.to_owned();
            }
        }
    }

    /// A command of the same user.
    pub(crate) fn command(&self, arguments: &[&str]) -> SandboxCommand {
        self.stage.command(arguments)
    }

    /// Writes a script of the scripted model, and returns the name of that model.
    pub(crate) fn script(&self, rules: &Value) -> String {
        let script = json!({ "rules": rules }).to_string();
        let file = self.stage.sandbox.write("script.json", &script);
        format!("scripted/{}", file.display())
    }

    /// Runs a task of the embedded agent on a script, to its end.
    pub(crate) fn run(&self, name: &str, prompt: &str, model: &str) -> String {
        let call = json!({"tasks": [{"name": name, "prompt": prompt}]});
        let output = self
            .command(&["delegate", "-", "--model", model])
            .args(["--runner", "embedded", "--json"])
            .stdin(call.to_string())
            .run();
        output.json()["runs"][0]["runId"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// The code in an address.
pub(crate) fn code_of(address: &str) -> &str {
    let (_, rest) = address.split_once("#code=").unwrap();
    rest.split('&').next().unwrap().trim()
}

fn without_code(address: &str) -> String {
    let code = format!("code={}&", code_of(address));
    address.replace(&code, "")
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let seen = wait_until(PATIENCE, || is_so().then_some(()));
    assert!(seen.is_some(), "{what}: not within {PATIENCE:?}");
}

fn serve(stage: &Stage, options: &[&str]) -> (RunningCommand, String) {
    let port: &[&str] = if options.contains(&"--port") {
        &[]
    } else {
        &["--port", "0"]
    };
    let running = stage.command(&["web"]).args(port).args(options).spawn();
    let said = running.wait_for_stdout("\n");
    let url = said.lines().next().unwrap().to_owned();
    (running, url)
}

impl Answered {
    fn parse(answer: &str) -> Self {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
        let mut lines = head.lines();
        let status = lines.next().unwrap_or_default();
        let status = status.split(' ').nth(1).and_then(|word| word.parse().ok());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let is_chunked = headers.contains(&("transfer-encoding".into(), "chunked".into()));
        Self {
            status: status.unwrap_or(0),
            headers,
            body: if is_chunked {
                unchunked(body)
            } else {
                body.to_owned()
            },
        }
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or(0);
        whole.push_str(rest.get(..length).unwrap_or_default());
        body = rest.get(length + 2..).unwrap_or_default();
    }
    whole
}
