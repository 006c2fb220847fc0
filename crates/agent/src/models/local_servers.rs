//! Model servers on this machine that answer without any configuration.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time that a server on this machine may take to answer.
const PATIENCE: Duration = Duration::from_millis(300);
/// No list of models is longer.
const MAX_BYTES: usize = 1024 * 1024;

/// A place where a server usually listens.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsualPlace {
    /// The name of the server for people.
    name: &'static str,
    /// Its name as a provider.
    provider: &'static str,
    port: u16,
}

/// The servers that people run on their machines.
pub(super) const USUAL: [UsualPlace; 3] = [
    usual("Ollama", "ollama", 11434),
    usual("llama.cpp", "llama.cpp", 8080),
    usual("LM Studio", "lm-studio", 1234),
];

const fn usual(name: &'static str, provider: &'static str, port: u16) -> UsualPlace {
    UsualPlace {
        name,
        provider,
        port,
    }
}

/// A server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalServer {
    pub(super) name: &'static str,
    pub(super) provider: &'static str,
    port: u16,
    /// The ids of its models.
    pub(super) models: Vec<String>,
}

impl LocalServer {
    /// Says how to use it.
    pub(super) fn sentence(&self) -> String {
        let example = self.models.first().map_or("MODEL", String::as_str);
        let Self {
            name,
            provider,
            port,
            ..
        } = self;
        format!(
            "{name} answers on this machine (port {port}): use it with --model {provider}/{example}."
        )
    }
}

/// Returns a sentence for each model server that answers in its usual place on this machine.
pub fn local_model_servers() -> Vec<String> {
    let servers = answering(&USUAL);
    servers.iter().map(LocalServer::sentence).collect()
}

/// Asks the usual places. A place that is free refuses at once, so this takes long only if another
/// program listens there.
pub(super) fn answering(places: &[UsualPlace]) -> Vec<LocalServer> {
    let answering = places.iter().filter_map(|place| {
        Some(LocalServer {
            name: place.name,
            provider: place.provider,
            port: place.port,
            models: models(place.port)?,
        })
    });
    answering.collect()
}

/// Sends the request that all three kinds of server answer, to this machine only.
fn models(port: u16) -> Option<Vec<String>> {
    let end = Instant::now() + PATIENCE;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let request = format!(
        "GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let text = read_until(stream, end)?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.split_whitespace().nth(1)?.starts_with('2') {
        return None;
    }
    // In pieces or not, the list begins and ends with a brace.
    let body = body.get(body.find('{')?..=body.rfind('}')?)?;
    let list: Value = serde_json::from_str(body).ok()?;
    let models = list["data"].as_array()?.iter();
    let ids = models.filter_map(|model| model["id"].as_str().map(str::to_owned));
    Some(ids.collect())
}

/// Reads a whole answer, if it ends in time and is not too long.
fn read_until(mut stream: TcpStream, end: Instant) -> Option<String> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        let rest = end.checked_duration_since(Instant::now())?;
        // A timeout of zero is refused, so the last read waits for a millisecond.
        stream
            .set_read_timeout(Some(rest.max(Duration::from_millis(1))))
            .ok()?;
        let count = stream.read(&mut piece).ok()?;
        if count == 0 {
            return Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        bytes.extend(&piece[..count]);
        if bytes.len() > MAX_BYTES {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use pretty_assertions::assert_eq;

    use super::*;

    fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[test]
    fn a_server_that_lists_models_answers_and_others_do_not() {
        let (server, port) = listener();
        let (free, free_port) = listener();
        drop(free);
        // It accepts and says nothing.
        let (_silent, silent_port) = listener();
        let answering_thread = thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let (mut request, mut byte) = (Vec::new(), [0]);
            while !request.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            let body = r#"{"object":"list","data":[{"id":"qwen3:8b"}]}"#;
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let found = answering(&[
            usual("Silent", "silent", silent_port),
            usual("Ollama", "ollama", port),
            usual("Free", "free", free_port),
        ]);
        answering_thread.join().unwrap();
        assert_eq!(
            found,
            [LocalServer {
                name: "Ollama",
                provider: "ollama",
                port,
                models: vec!["qwen3:8b".to_owned()],
            }]
        );
        assert_eq!(
            found[0].sentence(),
            format!(
                "Ollama answers on this machine (port {port}): use it with --model ollama/qwen3:8b."
            )
        );
    }
}
