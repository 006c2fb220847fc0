//! Reads a session file back into a conversation.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pi_subagents_files::read_own;
use serde_json::Value;

use crate::message::{Block, CompactionSummary, Message};

/// A session is not read beyond this.
const LARGEST_SESSION: u64 = 1 << 30;

/// The contents of a session file, as far as they concern the next model call.
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
    /// True if the last line was cut off.
    pub(crate) is_torn: bool,
    /// The number of messages that are older than the last summary.
    pub(crate) trusted_from: usize,
    /// The place of each entry of the branch.
    order: HashMap<String, usize>,
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
    /// Reads `path`; `None` if there is nothing to continue.
    ///
    /// Lines that are no entries are skipped, wherever they are.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, SessionError> {
        let bytes = match read_own(path, LARGEST_SESSION) {
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
        let ids = branch.iter().filter_map(|entry| text(entry, "id"));
        self.order = ids.enumerate().map(|(at, id)| (id, at)).collect();
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

    /// Takes a message back or replaces it.
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

    /// Puts a summary in the place of everything before the first kept entry, except the prompt.
    fn compact(&mut self, id: String, entry: &Value) {
        // The entry may be something else than a message, for example the change of a model.
        let first = text(entry, "firstKeptEntryId").unwrap_or_default();
        let first = self.order.get(&first).copied().unwrap_or(usize::MAX);
        let place = |id: &String| self.order.get(id).copied().unwrap_or(0);
        let kept_from = self.messages.iter().position(|(id, _)| place(id) >= first);
        let kept = self
            .messages
            .split_off(kept_from.unwrap_or(self.messages.len()));
        let is_system = |message: &Message| matches!(message, Message::System(_));
        match serde_json::from_value::<Message>(entry["systemMessage"].clone()) {
            Ok(system) if is_system(&system) => {
                self.messages = vec![(id.clone(), Rc::new(system))];
            }
            _ => self.messages.retain(|(_, message)| is_system(message)),
        }
        let summary = Message::CompactionSummary(CompactionSummary {
            summary: text(entry, "summary").unwrap_or_default(),
            tokens_before: entry["tokensBefore"].as_u64().unwrap_or_default(),
            timestamp: 0,
        });
        self.messages.push((id, Rc::new(summary)));
        let kept = kept.into_iter().filter(|(_, message)| !is_system(message));
        self.messages.extend(kept);
        self.trusted_from = self.messages.len();
    }
}

/// Returns the entries from the root to the last one appended.
fn last_branch(entries: &[Value]) -> Vec<&Value> {
    let by_id: HashMap<&str, &Value> = entries
        .iter()
        .filter_map(|entry| Some((entry["id"].as_str()?, entry)))
        .collect();
    let mut branch = Vec::new();
    let mut seen = HashSet::new();
    let mut next = entries.iter().rev().find(|entry| entry["id"].is_string());
    // A file whose parents form a circle is no tree; it ends where it would begin again.
    while let Some(entry) = next.filter(|entry| seen.insert(entry["id"].as_str())) {
        branch.push(entry);
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
