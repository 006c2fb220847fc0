//! Bytes of a child's stdout → lines → records.
//!
//! A line may be of any length. Its first bytes show whether it is worth holding. The held bytes
//! are bounded per line and over all children; a longer line goes to a file of the run directory as
//! it comes. See `docs/design/child-protocol.md`.

use std::fs::File;
use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use pi_subagents_files::Directory;
use pi_subagents_vocabulary::Message;
use pi_subagents_vocabulary::child_protocol::{ChildLine, ChildRecord, Peeked, decode, peek};
use serde_json::json;

use super::held_line::HeldLine;
use super::inbox::Splitter;
use super::memory::LineMemory;
use crate::partial_feed::PartialFeed;

/// A line of a child's output, or the news that a tool is at work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// A record, with the line as the child wrote it.
    Record { line: Bytes, record: ChildRecord },
    /// A line that is no record.
    Text(Bytes),
    /// A tool reported that it is at work; the report itself was skipped.
    ToolReported,
}

/// Splits a child's output on LF bytes only.
#[derive(Debug)]
pub(crate) struct LineReader {
    memory: LineMemory,
    /// The directory for long lines, if the run has one.
    directory: Option<PathBuf>,
    long_lines: u32,
    /// The number of bytes of long lines that may still be written.
    long_line_room: u64,
    /// The feed that takes the updates of messages while somebody reads along.
    partial: PartialFeed,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The first bytes of a line, which do not show its kind yet.
    Deciding(Vec<u8>),
    Holding(HeldLine),
    /// A line that nobody needs.
    Skipping,
    /// An update of a message, for readers who follow it.
    Partial(Vec<u8>),
    Spilling(LongLine),
}

/// A line on its way to a file.
#[derive(Debug)]
struct LongLine {
    beginning: Vec<u8>,
    length: u64,
    /// The number of bytes that may still be written.
    room: u64,
    file: Result<(File, String), String>,
}

impl Splitter for LineReader {
    type Line = Line;

    fn feed(&mut self, mut chunk: &[u8], lines: &mut Vec<Line>) {
        let mut copies = BytesMut::new();
        while let Some(end) = memchr(b'\n', chunk) {
            if self.is_between_lines() {
                self.whole(&chunk[..end], &mut copies, chunk.len(), lines);
            } else {
                self.extend(&chunk[..end], lines);
                self.complete(lines);
            }
            chunk = &chunk[end + 1..];
        }
        self.extend(chunk, lines);
    }

    fn finish(&mut self, lines: &mut Vec<Line>) {
        self.complete(lines);
    }
}

impl LineReader {
    /// Makes a reader for a child whose long lines go to `directory`.
    pub(crate) fn new(memory: LineMemory, directory: Option<PathBuf>) -> Self {
        Self {
            memory,
            directory,
            long_lines: 0,
            long_line_room: u64::MAX,
            partial: PartialFeed::new(Arc::default()),
            state: State::Deciding(Vec::new()),
        }
    }

    /// Limits the bytes of long lines that are written.
    pub(crate) fn with_long_line_room(mut self, bytes: u64) -> Self {
        self.long_line_room = bytes;
        self
    }

    /// Adds updates of messages to this feed from now on, while somebody reads it.
    pub(crate) fn feed_partial(&mut self, partial: PartialFeed) {
        self.partial = partial;
    }

    fn is_between_lines(&self) -> bool {
        matches!(&self.state, State::Deciding(beginning) if beginning.is_empty())
    }

    /// Takes a line that lies in one chunk, as most do. The kept parts of a chunk are copied once,
    /// to memory that its lines share and that is never larger than the `rest` of the chunk.
    fn whole(&self, line: &[u8], copies: &mut BytesMut, rest: usize, lines: &mut Vec<Line>) {
        match peek(line) {
            Peeked::MessageDelta if line.len() <= LONGEST_UPDATE && self.partial.has_readers() => {
                self.partial.add(line);
            }
            Peeked::MessageDelta | Peeked::Repetition => {}
            Peeked::ToolDelta => tool_reported(lines),
            Peeked::Worth | Peeked::Undecided => {
                if copies.capacity() == 0 {
                    copies.reserve(rest);
                }
                copies.extend_from_slice(line);
                self.push(decoded(copies.split().freeze()), lines);
            }
        }
    }

    fn extend(&mut self, bytes: &[u8], lines: &mut Vec<Line>) {
        if bytes.is_empty() {
            return;
        }
        if let State::Deciding(beginning) = &mut self.state {
            if !beginning.is_empty() {
                beginning.extend_from_slice(bytes);
                let beginning = mem::take(beginning);
                self.decide(&beginning, lines);
                return;
            }
            self.decide(bytes, lines);
            return;
        }
        self.take(bytes);
    }

    fn decide(&mut self, beginning: &[u8], lines: &mut Vec<Line>) {
        self.state = match peek(beginning) {
            Peeked::MessageDelta if self.partial.has_readers() => State::Partial(Vec::new()),
            Peeked::MessageDelta | Peeked::Repetition => State::Skipping,
            Peeked::ToolDelta => {
                tool_reported(lines);
                State::Skipping
            }
            Peeked::Undecided => {
                self.state = State::Deciding(beginning.to_vec());
                return;
            }
            Peeked::Worth => State::Holding(HeldLine::new(self.memory.hold())),
        };
        self.take(beginning);
    }

    /// Takes bytes of a line whose kind is known.
    fn take(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Skipping => {}
            State::Spilling(long) => long.write(bytes),
            State::Partial(update) if update.len() + bytes.len() > LONGEST_UPDATE => {
                self.state = State::Skipping;
            }
            State::Partial(update) => update.extend_from_slice(bytes),
            State::Holding(held) => {
                if held.extend(bytes).is_err() {
                    self.spill(bytes);
                }
            }
            State::Deciding(beginning) => beginning.extend_from_slice(bytes),
        }
    }

    /// Goes on in a file with a line that became too long to be held.
    fn spill(&mut self, bytes: &[u8]) {
        let mut long = self.open_long_line();
        if let State::Holding(held) = &self.state {
            long.write(held.as_ref());
        }
        long.write(bytes);
        self.state = State::Spilling(long);
    }

    fn complete(&mut self, lines: &mut Vec<Line>) {
        match mem::replace(&mut self.state, State::Deciding(Vec::new())) {
            State::Skipping => {}
            State::Partial(update) => self.partial.add(&update),
            State::Deciding(beginning) => self.push(decoded(Bytes::from(beginning)), lines),
            State::Holding(held) => self.push(decoded(held.into_bytes()), lines),
            State::Spilling(long) => {
                self.long_line_room = long.room;
                self.push(Some(long.into_note()), lines);
            }
        }
    }

    /// Adds a line. Readers of partial messages count the answers that are complete.
    fn push(&self, line: Option<Line>, lines: &mut Vec<Line>) {
        if let Some(Line::Record {
            record: ChildRecord::MessageEnded(Message::Assistant(_)),
            ..
        }) = &line
        {
            self.partial.message_ended();
        }
        lines.extend(line);
    }

    fn open_long_line(&mut self) -> LongLine {
        self.long_lines += 1;
        let name = format!("long-line-{}.txt", self.long_lines);
        let file = match &self.directory {
            Some(directory) => empty_file(directory, &name)
                .map(|file| (file, name))
                .map_err(|error| error.to_string()),
            None => Err("the run has no directory".to_owned()),
        };
        LongLine {
            beginning: Vec::new(),
            length: 0,
            room: self.long_line_room,
            file,
        }
    }
}

fn tool_reported(lines: &mut Vec<Line>) {
    if lines.last() != Some(&Line::ToolReported) {
        lines.push(Line::ToolReported);
    }
}

fn decoded(line: Bytes) -> Option<Line> {
    let line = match line.last() {
        Some(b'\r') => line.slice(..line.len() - 1),
        _ => line,
    };
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    Some(match decode(&line) {
        ChildLine::Record(record) => Line::Record { line, record },
        ChildLine::Text => Line::Text(line),
    })
}

/// A longer update is skipped; the whole message comes when it is complete.
const LONGEST_UPDATE: usize = 256 << 10;

/// The number of bytes of a long line that are looked at to find its kind.
const BEGINNING: usize = 512;

impl LongLine {
    fn write(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let missing = BEGINNING.saturating_sub(self.beginning.len());
        self.beginning
            .extend_from_slice(&bytes[..bytes.len().min(missing)]);
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let fitting = &bytes[..bytes.len().min(room)];
        self.room -= fitting.len() as u64;
        if let Ok((file, _)) = &mut self.file
            && let Err(error) = file.write_all(fitting)
        {
            self.file = Err(error.to_string());
        }
    }

    /// Makes the note for the line in events and windows. The answer of a model stays an answer, so
    /// that a reader of the run's output is led to the file.
    fn into_note(self) -> Line {
        let where_it_is = match &self.file {
            Ok((_, name)) if self.room == 0 => format!(
                "written to {name} in the run directory, as far as maxRunDisk in settings.json lets it"
            ),
            Ok((_, name)) => format!("written to {name} in the run directory"),
            Err(error) => format!("lost: {error}"),
        };
        let note = format!("[a line of {} bytes was {where_it_is}]", self.length);
        let Some(role) = self.role() else {
            return Line::Text(Bytes::from(note));
        };
        let line = json!({
            "type": "message_end",
            "message": {"role": role, "content": [{"type": "text", "text": note}]},
        });
        let line = Bytes::from(line.to_string());
        match decode(&line) {
            ChildLine::Record(record) => Line::Record { line, record },
            ChildLine::Text => Line::Text(line),
        }
    }

    fn role(&self) -> Option<&'static str> {
        let beginning = String::from_utf8_lossy(&self.beginning);
        if !beginning.starts_with(r#"{"type":"message_end""#) {
            return None;
        }
        ["assistant", "user", "toolResult"]
            .into_iter()
            .find(|role| beginning.contains(&format!(r#""role":"{role}""#)))
    }
}

/// Opens an empty file of a run; an earlier child of the run may have left one of the same name.
fn empty_file(directory: &Path, name: &str) -> io::Result<File> {
    let file = Directory::open_plain(directory)?.append(Path::new(name))?;
    file.set_len(0)?;
    Ok(file)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
