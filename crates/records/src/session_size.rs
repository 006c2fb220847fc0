//! The size of a conversation, by the last answer in its session file.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use pi_subagents_files as files;
use serde_json::Value;

/// The end of a file in which the last answer is looked for.
const END: u64 = 8 << 20;

/// The number of bytes that make a token, about.
const BYTES_PER_TOKEN: u64 = 4;

/// The size of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSize {
    /// The tokens that its next request sends beside the prompt.
    pub tokens: u64,
    /// The tokens of its last answer.
    pub last_answer: u64,
    /// The model of its last answer, as provider/id.
    pub model: Option<String>,
}

/// Returns the number of tokens that a text of this many bytes takes, about.
pub fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

impl SessionSize {
    /// Reads the size of the conversation in a session file; `None` if there is no answer in it.
    pub fn read(file: &Path) -> Option<Self> {
        let end = end_of(file).ok()?;
        let mut behind = 0;
        for line in end.split(|byte| *byte == b'\n').rev() {
            let Ok(entry) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            if entry["type"] == "compaction" {
                // The summary stands for everything before it.
                let summary = entry["summary"].as_str().map_or(0, str::len) as u64;
                let tokens = behind + tokens_of_bytes(summary);
                return Some(Self {
                    tokens,
                    last_answer: tokens_of_bytes(summary),
                    model: None,
                });
            }
            let message = &entry["message"];
            let counted = counted(&message["usage"]);
            let is_answer = message["role"] == "assistant";
            if is_answer && counted > 0 {
                return Some(Self {
                    tokens: behind + counted,
                    last_answer: tokens_of_bytes(text_bytes(message)),
                    model: model_of(message),
                });
            }
            if !message.is_null() {
                behind += tokens_of_bytes(line.len() as u64);
            }
        }
        None
    }
}

/// Reads the end of a file. A first line that is not whole is no entry.
fn end_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = files::open_own(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns the tokens of an answer, with everything that was sent for it.
fn counted(usage: &Value) -> u64 {
    let parts = ["input", "output", "cacheRead", "cacheWrite"];
    let parts = parts.map(|part| usage[part].as_u64().unwrap_or_default());
    parts.into_iter().fold(0, u64::saturating_add)
}

fn model_of(message: &Value) -> Option<String> {
    let (provider, model) = message["provider"]
        .as_str()
        .zip(message["model"].as_str())?;
    Some(format!("{provider}/{model}"))
}

fn text_bytes(message: &Value) -> u64 {
    let parts = message["content"].as_array().into_iter().flatten();
    let texts = parts.filter_map(|part| part["text"].as_str());
    texts.map(|text| text.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(lines: &[&str]) -> Option<SessionSize> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("session.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        SessionSize::read(&file)
    }

    #[test]
    fn the_last_answer_and_what_follows_it_count() {
        let first = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"old"}],"usage":{"input":5,"output":5}}}"#;
        let last = r#"{"type":"message","message":{"role":"assistant","provider":"a","model":"m","content":[{"type":"text","text":"12345678"}],"usage":{"input":10,"output":20,"cacheRead":900,"cacheWrite":70}}}"#;
        let failed =
            r#"{"type":"message","message":{"role":"assistant","content":[],"usage":{"input":0}}}"#;
        let size = |tokens, last_answer, model: Option<&str>| {
            Some(SessionSize {
                tokens,
                last_answer,
                model: model.map(str::to_owned),
            })
        };
        assert_eq!(read(&[first, last]), size(1000, 2, Some("a/m")));
        let behind = tokens_of_bytes(failed.len() as u64);
        assert_eq!(
            read(&[first, last, failed, "torn {"]),
            size(1000 + behind, 2, Some("a/m"))
        );
        let compaction = r#"{"type":"compaction","summary":"abcd"}"#;
        assert_eq!(read(&[last, compaction]), size(1, 1, None));
        assert_eq!(read(&[r#"{"type":"session"}"#]), None);
    }
}
