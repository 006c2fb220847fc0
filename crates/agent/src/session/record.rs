//! Reads a session file back into a conversation.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;

use crate::message::{Block, Message};

/// What a session file holds, as far as it concerns the next model call.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) id: String,
    pub(crate) cwd: PathBuf,
    pub(crate) name: Option<String>,
    /// Provider and id of the model last used.
    pub(crate) model: Option<(String, String)>,
    pub(crate) thinking: Option<String>,
    /// The messages of the last branch with the ids of their entries.
    pub(crate) messages: Vec<(String, Rc<Message>)>,
    pub(crate) leaf: Option<String>,
    /// Whether the last line was cut off.
    pub(crate) is_torn: bool,
}

/// The file cannot be continued.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("Cannot read session file {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not a session file", path.display())]
    NotASession { path: PathBuf },
    #[error(
        "The working directory of session {} does not exist: {}",
        path.display(),
        cwd.display()
    )]
    CwdGone { path: PathBuf, cwd: PathBuf },
}

impl Recorded {
    /// Reads `path`; None if there is nothing to continue.
    ///
    /// Lines that are no entries are passed over, wherever they stand.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, SessionError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                let path = path.to_owned();
                return Err(SessionError::Unreadable { path, source });
            }
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let header: Option<Value> = lines
            .next()
            .and_then(|line| serde_json::from_slice(line).ok());
        let Some(header) = header.filter(|header| header["type"] == "session") else {
            return Err(SessionError::NotASession {
                path: path.to_owned(),
            });
        };
        let entries: Vec<Value> = lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let mut recorded = Self {
            id: text(&header, "id").unwrap_or_default(),
            cwd: text(&header, "cwd").map(PathBuf::from).unwrap_or_default(),
            is_torn: bytes.last() != Some(&b'\n'),
            ..Self::default()
        };
        recorded.replay(&entries);
        if !recorded.cwd.is_dir() {
            return Err(SessionError::CwdGone {
                path: path.to_owned(),
                cwd: recorded.cwd,
            });
        }
        Ok(Some(recorded))
    }

    fn replay(&mut self, entries: &[Value]) {
        let branch = last_branch(entries);
        self.leaf = branch.last().and_then(|entry| text(entry, "id"));
        for entry in branch {
            self.take(entry);
        }
    }

    fn take(&mut self, entry: &Value) {
        let id = text(entry, "id").unwrap_or_default();
        match entry["type"].as_str() {
            Some("message") => {
                if let Ok(message) = serde_json::from_value::<Message>(entry["message"].clone()) {
                    if let Some(assistant) = message.as_assistant() {
                        self.model = Some((assistant.provider.clone(), assistant.model.clone()));
                    }
                    self.messages.push((id, Rc::new(message)));
                }
            }
            Some("model_change") => {
                self.model = text(entry, "provider").zip(text(entry, "modelId"));
            }
            Some("thinking_level_change") => self.thinking = text(entry, "thinkingLevel"),
            Some("session_info") => self.name = text(entry, "name"),
            Some("context_edit") => self.edit(entry),
            Some("compaction") => self.compact(id, entry),
            Some("branch_summary") => self.add_user(id, text(entry, "summary")),
            Some("custom_message") => self.add_user(id, content_of(entry)),
            _ => {}
        }
    }

    fn add_user(&mut self, id: String, text: Option<String>) {
        if let Some(text) = text {
            let message = Message::user(vec![Block::text(text)]);
            self.messages.push((id, Rc::new(message)));
        }
    }

    /// A message that was taken back or replaced.
    fn edit(&mut self, entry: &Value) {
        let target = text(entry, "targetId").unwrap_or_default();
        match serde_json::from_value::<Message>(entry["replacement"].clone()) {
            Ok(message) if !entry["replacement"].is_null() => {
                for (id, old) in &mut self.messages {
                    if *id == target {
                        *old = Rc::new(message.clone());
                    }
                }
            }
            _ => self.messages.retain(|(id, _)| *id != target),
        }
    }

    /// A summary stands for everything before the first kept entry, except the prompt.
    fn compact(&mut self, id: String, entry: &Value) {
        let first = text(entry, "firstKeptEntryId").unwrap_or_default();
        let kept_from = self.messages.iter().position(|(id, _)| *id == first);
        let kept = self
            .messages
            .split_off(kept_from.unwrap_or(self.messages.len()));
        self.messages
            .retain(|(_, message)| matches!(**message, Message::System(_)));
        let summary = text(entry, "summary")
            .map(|summary| format!("The conversation so far, in short:\n\n{summary}"));
        self.add_user(id, summary);
        self.messages.extend(kept);
    }
}

/// The entries from the root to the last one appended.
fn last_branch(entries: &[Value]) -> Vec<&Value> {
    let by_id: HashMap<&str, &Value> = entries
        .iter()
        .filter_map(|entry| Some((entry["id"].as_str()?, entry)))
        .collect();
    let mut branch = Vec::new();
    let mut next = entries.iter().rev().find(|entry| entry["id"].is_string());
    while let Some(entry) = next {
        branch.push(entry);
        // A file whose parents form a circle is no tree; stop instead of turning for ever.
        if branch.len() > entries.len() {
            break;
        }
        next = entry["parentId"]
            .as_str()
            .and_then(|id| by_id.get(id).copied());
    }
    branch.reverse();
    branch
}

fn text(entry: &Value, field: &str) -> Option<String> {
    entry[field].as_str().map(str::to_owned)
}

fn content_of(entry: &Value) -> Option<String> {
    match &entry["content"] {
        Value::String(text) => Some(text.clone()),
        blocks => serde_json::from_value::<Vec<Block>>(blocks.clone())
            .ok()
            .map(|blocks| crate::message::joined_text(&blocks)),
    }
}
