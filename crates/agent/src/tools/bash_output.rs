//! The output of a command: its tail in memory, and all of it in a file once it is too long.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::truncation::{Limit, MAX_BYTES, MAX_LINES, Truncation, readable_size};

/// Bytes of the tail that are kept at least; more than can be shown.
const TAIL_BYTES: usize = MAX_BYTES * 2;
/// The file stops growing here; a command that prints more is not read by anyone.
const MAX_FILE_BYTES: usize = 1024 * 1024 * 1024;

/// Collects output in bounded memory.
#[derive(Debug)]
pub(super) struct BashOutput {
    directory: PathBuf,
    tail: Vec<u8>,
    total_bytes: usize,
    newlines: usize,
    last_line_bytes: usize,
    full: Option<FullOutput>,
}

#[derive(Debug)]
struct FullOutput {
    path: PathBuf,
    file: File,
}

impl BashOutput {
    /// Makes an empty output. If a file is needed, it goes to `directory`.
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            tail: Vec::new(),
            total_bytes: 0,
            newlines: 0,
            last_line_bytes: 0,
            full: None,
        }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let was_short = !self.is_long();
        self.count(bytes);
        self.tail.extend_from_slice(bytes);
        if was_short && self.is_long() {
            self.full = FullOutput::create(&self.directory, &self.tail);
        } else if let Some(full) = &mut self.full
            && self.total_bytes <= MAX_FILE_BYTES
        {
            // A full disk costs the rest of the file, not the command.
            let _ = full.file.write_all(bytes);
        }
        if self.tail.len() > TAIL_BYTES * 2 {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.total_bytes += bytes.len();
        match memchr::memrchr(b'\n', bytes) {
            Some(last) => {
                self.newlines += memchr::memchr_iter(b'\n', bytes).count();
                self.last_line_bytes = bytes.len() - last - 1;
            }
            None => self.last_line_bytes += bytes.len(),
        }
    }

    fn is_long(&self) -> bool {
        self.total_bytes > MAX_BYTES || self.total_lines() > MAX_LINES
    }

    fn total_lines(&self) -> usize {
        self.newlines + usize::from(self.last_line_bytes > 0)
    }

    /// Returns the view of the output for now.
    pub(super) fn shown(&self) -> Shown {
        let truncation = if self.is_long() {
            self.last_lines()
        } else {
            let text = String::from_utf8_lossy(&self.tail).into_owned();
            Truncation::none(text, self.total_lines(), MAX_LINES)
        };
        Shown {
            truncation,
            full_output: self
                .full
                .as_ref()
                .map(|full| full.path.display().to_string()),
            last_line_bytes: self.last_line_bytes,
        }
    }

    /// Returns the last whole lines that fit, or the end of the last line if it alone is too long.
    fn last_lines(&self) -> Truncation {
        let text = self.tail.strip_suffix(b"\n").unwrap_or(&self.tail);
        let mut start = text.len();
        let mut lines = 0;
        for line in text.rsplit(|byte| *byte == b'\n').take(MAX_LINES) {
            let next = start.saturating_sub(line.len() + usize::from(lines > 0));
            if text.len() - next > MAX_BYTES {
                break;
            }
            start = next;
            lines += 1;
        }
        let partial = lines == 0;
        if partial {
            start = character_start(text, text.len() - MAX_BYTES);
        }
        let content = String::from_utf8_lossy(&text[start..]).into_owned();
        let lines = lines.max(1);
        let by = if lines >= MAX_LINES {
            Limit::Lines
        } else {
            Limit::Bytes
        };
        Truncation {
            truncated: true,
            truncated_by: Some(by),
            total_lines: self.total_lines(),
            total_bytes: self.total_bytes,
            last_line_partial: partial,
            ..Truncation::none(content, lines, MAX_LINES)
        }
    }
}

impl FullOutput {
    /// Creates the file of the whole output and writes everything so far into it. Without the file
    /// only the tail can be shown.
    fn create(directory: &Path, so_far: &[u8]) -> Option<Self> {
        let named = tempfile::Builder::new()
            .prefix("pi-bash-")
            .suffix(".log")
            .tempfile_in(directory)
            .ok()?;
        let (mut file, path) = named.keep().ok()?;
        file.write_all(so_far).ok()?;
        Some(Self { path, file })
    }
}

fn character_start(text: &[u8], from: usize) -> usize {
    (from..text.len())
        .find(|at| text[*at] & 0b1100_0000 != 0b1000_0000)
        .unwrap_or(text.len())
}

/// A view of the output, with the notice about the missing part.
pub(super) struct Shown {
    truncation: Truncation,
    full_output: Option<String>,
    last_line_bytes: usize,
}

impl Shown {
    /// Returns the tail alone, for updates.
    pub(super) fn tail(&self) -> &str {
        &self.truncation.content
    }

    /// Returns the tail and where to find the rest.
    pub(super) fn text(&self) -> String {
        let cut = &self.truncation;
        if !cut.truncated {
            return cut.content.clone();
        }
        let (first, last) = (cut.total_lines - cut.output_lines + 1, cut.total_lines);
        let what = if cut.last_line_partial {
            format!(
                "last {} of line {last} (line is {})",
                readable_size(cut.output_bytes),
                readable_size(self.last_line_bytes)
            )
        } else if cut.truncated_by == Some(Limit::Lines) {
            format!("lines {first}-{last} of {last}")
        } else {
            format!(
                "lines {first}-{last} of {last} ({} limit)",
                readable_size(MAX_BYTES)
            )
        };
        let place = self.full_output.as_deref().unwrap_or("could not be saved");
        format!("{}\n\n[Showing {what}. Full output: {place}]", cut.content)
    }

    /// Returns the facts about the cut and the path of the whole output; `None` if nothing was cut.
    pub(super) fn details(&self) -> Option<Value> {
        if !self.truncation.truncated {
            return None;
        }
        let mut details = Map::new();
        details.insert("truncation".to_owned(), json!(self.truncation));
        if let Some(path) = &self.full_output {
            details.insert("fullOutputPath".to_owned(), json!(path));
        }
        Some(Value::Object(details))
    }
}
