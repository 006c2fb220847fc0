//! The file of a session, in pi's form. An entry in it names the agent's own session, with which the
//! next child goes on.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use jiff::Timestamp;
use pi_subagents_files::{append_own, read_own};
use pi_subagents_vocabulary::OtherAgent;
use serde_json::{Value, json};

/// A larger session is not read.
const LARGEST: u64 = 256 << 20;

/// The number of bytes of an earlier conversation that are told again.
const MOST_TOLD: usize = 60_000;

/// The kind of the entry with the agent's own session.
const OWN_SESSION: &str = "acpSession";

/// A session file that is being written.
pub(crate) struct SessionFile {
    file: Option<File>,
    leaf: Option<String>,
    id: String,
}

/// The earlier part of a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlierPart {
    /// The agent's own session, if the last child was the same kind of agent.
    pub(crate) own_session: Option<String>,
    /// The conversation in words.
    pub(crate) told: String,
}

impl SessionFile {
    /// Opens the file and reads what is there; without a path nothing is kept.
    pub(crate) fn open(
        path: Option<&Path>,
        agent: OtherAgent,
        cwd: &Path,
    ) -> io::Result<OpenedFile> {
        let Some(path) = path else {
            return Ok(OpenedFile {
                file: Self {
                    file: None,
                    leaf: None,
                    id: String::new(),
                },
                earlier: EarlierPart::default(),
            });
        };
        let bytes = match read_own(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let entries: Vec<Value> = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let leaf = entries.iter().rev().find_map(|entry| entry["id"].as_str());
        let mut file = append_own(path)?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        let id = uuid::Uuid::now_v7().to_string();
        if entries.is_empty() {
            let header = json!({
                "type": "session", "version": 3, "id": id, "timestamp": time(),
                "cwd": cwd.display().to_string(),
            });
            file.write_all(format!("{header}\n").as_bytes())?;
        }
        let has_entries = entries.len() > 1;
        Ok(OpenedFile {
            earlier: EarlierPart::of(&entries, agent),
            file: Self {
                file: Some(file),
                leaf: leaf.filter(|_| has_entries).map(str::to_owned),
                id,
            },
        })
    }

    /// Keeps a message. A disk that is full does not stop the agent.
    pub(crate) fn message(&mut self, message: &Value) {
        self.append("message", &json!({"message": message}));
    }

    /// Keeps the name of the agent's own session.
    pub(crate) fn own_session(&mut self, agent: OtherAgent, session: &str) {
        let data = json!({"agent": agent.as_str(), "session": session});
        self.append("custom", &json!({"customType": OWN_SESSION, "data": data}));
    }

    fn append(&mut self, kind: &str, fields: &Value) {
        let Some(file) = &mut self.file else {
            return;
        };
        let random = uuid::Uuid::now_v7().simple().to_string();
        let id = random[random.len() - 8..].to_owned();
        let mut entry = json!({
            "type": kind, "id": id, "parentId": self.leaf, "timestamp": time(),
        });
        if let (Some(entry), Some(fields)) = (entry.as_object_mut(), fields.as_object()) {
            entry.extend(fields.clone());
        }
        if file.write_all(format!("{entry}\n").as_bytes()).is_ok() {
            self.leaf = Some(id);
        }
    }

    /// Returns the id of the session.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

/// A session file, and what was there before.
pub(crate) struct OpenedFile {
    pub(crate) file: SessionFile,
    pub(crate) earlier: EarlierPart,
}

impl EarlierPart {
    fn of(entries: &[Value], agent: OtherAgent) -> Self {
        let mut own = entries.iter().rev();
        let own = own.find(|entry| entry["customType"] == OWN_SESSION);
        let own = own.filter(|entry| entry["data"]["agent"] == agent.as_str());
        let own = own.and_then(|entry| entry["data"]["session"].as_str());
        let lines: Vec<String> = entries.iter().filter_map(line_of).collect();
        let mut told = lines.join("\n\n");
        let from = told.ceil_char_boundary(told.len().saturating_sub(MOST_TOLD));
        told.drain(..from);
        Self {
            own_session: own.map(str::to_owned),
            told,
        }
    }
}

fn line_of(entry: &Value) -> Option<String> {
    let message = &entry["message"];
    let speaker = match message["role"].as_str()? {
        "user" => "User",
        "assistant" => "You",
        _ => return None,
    };
    let parts = message["content"].as_array()?;
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    (!texts.is_empty()).then(|| format!("{speaker}: {}", texts.join("\n")))
}

fn time() -> String {
    format!("{:.3}", Timestamp::now())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_next_child_finds_the_session_of_its_own_kind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.jsonl");
        let open = |agent| SessionFile::open(Some(&path), agent, Path::new("/w")).unwrap();
        let mut first = open(OtherAgent::Claude);
        assert_eq!(first.earlier, EarlierPart::default());
        first.file.own_session(OtherAgent::Claude, "abc");
        let text = json!([{"type": "text", "text": "Hello."}]);
        first
            .file
            .message(&json!({"role": "user", "content": text}));
        first
            .file
            .message(&json!({"role": "assistant", "content": text}));
        let told = "User: Hello.\n\nYou: Hello.".to_owned();
        let expected = EarlierPart {
            own_session: Some("abc".to_owned()),
            told: told.clone(),
        };
        assert_eq!(open(OtherAgent::Claude).earlier, expected);
        let expected = EarlierPart {
            own_session: None,
            told,
        };
        assert_eq!(open(OtherAgent::Codex).earlier, expected);
    }
}
