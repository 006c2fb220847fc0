//! Writes the session file.
//!
//! Nothing is on disk before the first assistant message, as in pi: a prompt that was never
//! answered leaves no file behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

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
    /// Not answered yet: what will be written first.
    Waiting {
        path: PathBuf,
        lines: Vec<u8>,
    },
    Open {
        path: PathBuf,
        file: File,
    },
}

impl SessionLog {
    /// A new session; `path` is created with its first assistant message.
    pub(crate) fn create(path: Option<&Path>, id: String, cwd: &Path) -> Self {
        let target = match path {
            None => Target::Nowhere,
            Some(path) => {
                let header = json!({
                    "type": "session", "version": 3, "id": id,
                    "timestamp": clock::iso(), "cwd": cwd.display().to_string(),
                });
                Target::Waiting {
                    path: path.to_owned(),
                    lines: line(&header),
                }
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
    /// A line cut off by a crash is ended first, so that ours stands on its own.
    pub(crate) fn resume(
        path: &Path,
        id: String,
        leaf: Option<String>,
        is_torn: bool,
    ) -> Result<Self, SessionLogError> {
        let failed = |source| SessionLogError {
            path: path.to_owned(),
            source,
        };
        let mut file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        if is_torn {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Self {
            id,
            target: Target::Open {
                path: path.to_owned(),
                file,
            },
            leaf,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::Nowhere => None,
            Target::Waiting { path, .. } | Target::Open { path, .. } => Some(path),
        }
    }

    /// Appends a message and returns the id of its entry.
    pub(crate) fn message(&mut self, message: &Message) -> Result<String, SessionLogError> {
        let mut shown = json!(message);
        // Pi adds up `usage.cost.total`; null counts as nothing there and as unknown here.
        if let Some(usage) = shown.get_mut("usage").and_then(Value::as_object_mut) {
            usage.entry("cost").or_insert_with(|| {
                json!({"input": null, "output": null, "cacheRead": null, "cacheWrite": null, "total": null})
            });
        }
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
        self.leaf = Some(id);
        match &mut self.target {
            Target::Nowhere => {}
            Target::Waiting { lines, .. } => lines.extend(line(&entry)),
            Target::Open { path, file } => {
                file.write_all(&line(&entry))
                    .map_err(|source| SessionLogError {
                        path: path.clone(),
                        source,
                    })?;
            }
        }
        Ok(entry)
    }

    /// Makes sure that a finished turn survives a crash of the machine.
    pub(crate) fn sync(&self) {
        if let Target::Open { file, .. } = &self.target {
            // Whoever cannot sync has still written.
            let _ = file.sync_data();
        }
    }

    fn open(&mut self) -> Result<(), SessionLogError> {
        if let Target::Waiting { path, lines } = &self.target {
            let file = create(path, lines).map_err(|source| SessionLogError {
                path: path.clone(),
                source,
            })?;
            self.target = Target::Open {
                path: path.clone(),
                file,
            };
        }
        Ok(())
    }
}

fn create(path: &Path, lines: &[u8]) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let is_empty = path.metadata().is_ok_and(|metadata| metadata.len() == 0);
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        // Someone else's session must not be mixed with ours.
        .create_new(!is_empty)
        .mode(0o600)
        .open(path)?;
    file.write_all(lines)?;
    Ok(file)
}

fn line(entry: &Value) -> Vec<u8> {
    let mut line = entry.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Eight hexadecimal digits, as pi's.
fn entry_id() -> String {
    let random = uuid::Uuid::now_v7().simple().to_string();
    random[random.len() - 8..].to_owned()
}
