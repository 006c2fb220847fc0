//! The reasons why a server does not start, or does not answer a call.

use std::time::Duration;

/// The reason why a server did not start; the server is the subject.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartFailure {
    #[error("it was not ready within {} seconds{}", .time.as_secs(), said(.last_words))]
    TooSlow { time: Duration, last_words: String },
    #[error("{command} could not be started: {source}")]
    NoProgram {
        command: String,
        source: std::io::Error,
    },
    #[error("{name} names {key}, which {why}")]
    Key {
        name: String,
        key: String,
        why: String,
    },
    #[error("{0}")]
    NotConfigured(String),
    #[error("its address cannot be asked: {0}")]
    Address(String),
    #[error("{why}{}", said(.last_words))]
    Protocol { why: String, last_words: String },
    #[error("it listed its tools in more than {0} parts")]
    EndlessList(usize),
}

/// The reason why a call has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallFailure {
    #[error("MCP server {server}: the arguments must be an object")]
    NoObject { server: String },
    #[error("MCP server {server} did not answer within {} seconds", .time.as_secs())]
    TooSlow { server: String, time: Duration },
    #[error("MCP server {server} sent more than {megabytes} MB for one call, and was cut off")]
    TooMuch { server: String, megabytes: u64 },
    #[error("MCP server {server}: {why}{}", said(.last_words))]
    Failed {
        server: String,
        why: String,
        last_words: String,
    },
}

fn said(last_words: &str) -> String {
    let words = last_words.trim();
    if words.is_empty() {
        return String::new();
    }
    format!("; its last words: {words}")
}
