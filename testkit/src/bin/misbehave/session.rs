//! The session file of pi, version 3: a header, then one entry for each message.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::json;

use crate::{dump, output};

/// Returns the time of an entry, for readers who ask for the time of a message.
fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// A session file that is written as the conversation goes on.
#[derive(Debug)]
pub(crate) struct SessionFile {
    file: File,
    entries: usize,
}

impl SessionFile {
    /// Begins the file, or goes on at its end.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let is_new = file.metadata()?.len() == 0;
        let mut session = Self { file, entries: 0 };
        if is_new {
            let cwd = dump::working_directory()?;
            session.line(&json!({
                "type": "session", "version": 3, "id": "00000000-0000-7000-8000-000000000000",
                "timestamp": now(), "cwd": cwd,
            }));
        }
        Ok(session)
    }

    /// Adds a message, which is JSON already.
    pub(crate) fn append(&mut self, message: &str) {
        let message: serde_json::Value = serde_json::from_str(message).unwrap_or_default();
        let id = |number: usize| format!("{number:08x}");
        let parent = (self.entries > 0).then(|| id(self.entries));
        self.entries += 1;
        self.line(&json!({
            "type": "message", "id": id(self.entries), "parentId": parent,
            "timestamp": now(), "message": message,
        }));
    }

    fn line(&mut self, entry: &serde_json::Value) {
        // Pi goes on as well when its session cannot be written.
        if let Err(error) = self.file.write_all(format!("{entry}\n").as_bytes()) {
            output::stderr(&format!("misbehave: the session: {error}\n"));
        }
    }
}
