//! Writes the session file.
//!
//! Nothing is written before the first assistant message, as in pi: a prompt that was never
//! answered leaves no file behind.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Claim;
use crate::clock;
use crate::message::Message;

/// The session file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("Could not write session file {}: {source}", path.display())]
pub(crate) struct SessionLogError {
    path: PathBuf,
    source: io::Error,
}

/// The entries of one session, on their way to disk.
#[derive(Debug)]
pub(crate) struct SessionLog {
    id: String,
    target: Target,
    leaf: Option<String>,
}

#[derive(Debug)]
enum Target {
    /// `--no-session`.
    Nowhere,
    /// There is no answer yet; these entries will be written first.
    Waiting {
        claim: Claim,
        lines: Vec<u8>,
    },
    Open {
        claim: Claim,
    },
}

impl SessionLog {
    /// Begins a session; its file is written with the first assistant message.
    pub(crate) fn create(claim: Option<Claim>, id: String, cwd: &Path) -> Self {
        let target = match claim {
            None => Target::Nowhere,
            Some(claim) => {
                let header = json!({
                    "type": "session", "version": 3, "id": id,
                    "timestamp": clock::iso(), "cwd": cwd.display().to_string(),
                });
                let lines = line(&header);
                Target::Waiting { claim, lines }
            }
        };
        Self {
            id,
            target,
            leaf: None,
        }
    }

    /// Goes on after `leaf` in a file that exists.
    ///
    /// A line cut off by a crash is ended first, so that ours is a line of its own.
    pub(crate) fn resume(
        mut claim: Claim,
        id: String,
        leaf: Option<String>,
        is_torn: bool,
    ) -> Result<Self, SessionLogError> {
        if is_torn {
            write(&mut claim, b"\n")?;
        }
        Ok(Self {
            id,
            target: Target::Open { claim },
            leaf,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::Nowhere => None,
            Target::Waiting { claim, .. } | Target::Open { claim } => Some(&claim.path),
        }
    }

    /// Appends a message and returns the id of its entry.
    pub(crate) fn message(&mut self, message: &Message) -> Result<String, SessionLogError> {
        let mut shown = json!(message);
        admit_unknown_cost(&mut shown);
        let entry = self.append("message", &json!({"message": shown}))?;
        if message.as_assistant().is_some() {
            self.open()?;
        }
        Ok(entry["id"].as_str().unwrap_or_default().to_owned())
    }

    /// Appends an entry of any type and returns it as it was written.
    pub(crate) fn append(&mut self, kind: &str, fields: &Value) -> Result<Value, SessionLogError> {
        let id = entry_id();
        let mut entry = json!({
            "type": kind, "id": id, "parentId": self.leaf, "timestamp": clock::iso(),
        });
        if let (Some(entry), Some(fields)) = (entry.as_object_mut(), fields.as_object()) {
            entry.extend(fields.clone());
        }
        admit_unknown_cost(&mut entry);
        self.leaf = Some(id);
        match &mut self.target {
            Target::Nowhere => {}
            Target::Waiting { lines, .. } => lines.extend(line(&entry)),
            Target::Open { claim } => write(claim, &line(&entry))?,
        }
        Ok(entry)
    }

    /// Makes sure that a finished turn survives a crash of the machine.
    pub(crate) fn sync(&self) {
        if let Target::Open { claim } = &self.target {
            // A file that cannot be synced has still been written.
            let _ = claim.file.sync_data();
        }
    }

    fn open(&mut self) -> Result<(), SessionLogError> {
        let target = std::mem::replace(&mut self.target, Target::Nowhere);
        self.target = match target {
            Target::Waiting { mut claim, lines } => {
                let written = write(&mut claim, &lines);
                self.target = Target::Open { claim };
                return written;
            }
            other => other,
        };
        Ok(())
    }
}

fn write(claim: &mut Claim, bytes: &[u8]) -> Result<(), SessionLogError> {
    claim
        .file
        .write_all(bytes)
        .map_err(|source| SessionLogError {
            path: claim.path.clone(),
            source,
        })
}

/// Adds a cost of null to an entry whose price is unknown. Pi adds up `usage.cost.total` and takes
/// null for nothing.
fn admit_unknown_cost(entry: &mut Value) {
    if let Some(usage) = entry.get_mut("usage").and_then(Value::as_object_mut) {
        usage.entry("cost").or_insert_with(|| {
            json!({"input": null, "output": null, "cacheRead": null, "cacheWrite": null, "total": null})
        });
    }
}

fn line(entry: &Value) -> Vec<u8> {
    let mut line = entry.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Returns eight hexadecimal digits, as in pi's ids.
fn entry_id() -> String {
    let random = uuid::Uuid::now_v7().simple().to_string();
    random[random.len() - 8..].to_owned()
}
