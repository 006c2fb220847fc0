//! Model servers on this machine that answer without any configuration.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The time that a server on this machine may take to answer.
const PATIENCE: Duration = Duration::from_millis(300);
/// No list of models is longer.
const MAX_BYTES: u64 = 1024 * 1024;

/// The servers that usually run on a machine: name for people, name as a provider, port.
pub(super) const USUAL: [(&str, &str, u16); 3] = [
    ("Ollama", "ollama", 11434),
    ("llama.cpp", "llama.cpp", 8080),
    ("LM Studio", "lm-studio", 1234),
];

/// Returns a sentence for each server that answers, with how to use it.
pub(super) async fn offers(places: &[(&str, &str, u16)]) -> Vec<String> {
    let mut offers = Vec::new();
    for (name, provider, port) in places {
        let answer = tokio::time::timeout(PATIENCE, models(*port)).await;
        let Ok(Some(models)) = answer else {
            continue;
        };
        let example = models.first().map_or("MODEL", String::as_str);
        offers.push(format!(
            "{name} answers on this machine (port {port}): use it with --model {provider}/{example}."
        ));
    }
    offers
}

/// Sends the request that all three kinds of server answer, to this machine only.
async fn models(port: u16) -> Option<Vec<String>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let request = format!(
        "GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut bytes = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut bytes).await.ok()?;
    let text = String::from_utf8_lossy(&bytes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_server_that_lists_models_is_offered_and_others_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let free = silent.local_addr().unwrap().port();
        drop(silent);
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut request).await.unwrap();
            }
            let body = r#"{"object":"list","data":[{"id":"qwen3:8b"}]}"#;
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let places = [("Ollama", "ollama", port), ("Other", "other", free)];
        assert_eq!(
            offers(&places).await,
            [format!(
                "Ollama answers on this machine (port {port}): use it with --model ollama/qwen3:8b."
            )]
        );
    }
}
