//! Reads a window of lines from a stream of any size in bounded memory.

use std::io::{self, Read};

use super::truncation::{Limit, MAX_BYTES, MAX_LINES, Truncation};

/// The lines from `start` on, at most `limit` of them, and facts about the rest.
#[derive(Debug)]
pub(super) struct LineWindow {
    pub(super) truncation: Truncation,
    /// The number of lines of the whole text; a final newline opens one more, empty line.
    pub(super) file_lines: usize,
    /// Bytes of the first line of the window.
    pub(super) first_line_bytes: usize,
}

/// Reads `text` to its end; `start` counts from 0.
pub(super) fn read(
    text: &mut impl Read,
    start: usize,
    limit: Option<usize>,
) -> io::Result<LineWindow> {
    let end = limit.map_or(usize::MAX, |limit| start.saturating_add(limit));
    let mut scan = Scan {
        start,
        end,
        ..Scan::default()
    };
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match text.read(&mut chunk) {
            Ok(0) => return Ok(scan.finish()),
            Ok(length) => scan.take(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[derive(Default)]
struct Scan {
    start: usize,
    end: usize,
    /// The number of the line we are in.
    line: usize,
    /// The beginning of the selected text, up to one byte more than may be shown.
    kept: Vec<u8>,
    selected_bytes: usize,
    last_byte: Option<u8>,
    first_line_bytes: usize,
}

impl Scan {
    fn take(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (content, ends) = match piece.split_last() {
                Some((b'\n', content)) => (content, true),
                _ => (piece, false),
            };
            self.add(content);
            if ends {
                self.line += 1;
                if self.is_selected() && self.line > self.start {
                    self.add_bytes(b"\n");
                }
            }
        }
    }

    fn add(&mut self, content: &[u8]) {
        if self.is_selected() {
            if self.line == self.start {
                self.first_line_bytes += content.len();
            }
            self.add_bytes(content);
        }
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.selected_bytes += bytes.len();
        self.last_byte = bytes.last().copied().or(self.last_byte);
        let room = (MAX_BYTES + 1).saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn is_selected(&self) -> bool {
        (self.start..self.end).contains(&self.line)
    }

    fn finish(self) -> LineWindow {
        let file_lines = self.line + 1;
        let selected_lines = file_lines.min(self.end).saturating_sub(self.start);
        LineWindow {
            file_lines,
            first_line_bytes: self.first_line_bytes,
            truncation: self.truncation(selected_lines),
        }
    }

    fn truncation(self, selected_lines: usize) -> Truncation {
        // A final newline ends the last line; it does not make another line worth counting.
        let counted = match self.last_byte {
            None => 0,
            Some(last) => selected_lines - usize::from(last == b'\n'),
        };
        let kept = String::from_utf8_lossy(&self.kept).into_owned();
        if counted <= MAX_LINES && self.selected_bytes <= MAX_BYTES {
            return Truncation::none(kept, counted, MAX_LINES);
        }
        let too_long = self.first_line_bytes > MAX_BYTES;
        let (content, output_lines) = if too_long {
            (String::new(), 0)
        } else {
            whole_lines(&self.kept)
        };
        let by_lines = output_lines >= MAX_LINES;
        Truncation {
            truncated: true,
            truncated_by: Some(if by_lines { Limit::Lines } else { Limit::Bytes }),
            total_lines: counted,
            total_bytes: self.selected_bytes,
            output_lines,
            first_line_exceeds_limit: too_long,
            ..Truncation::none(content, output_lines, MAX_LINES)
        }
    }
}

/// Returns the first lines of `kept` that fit both limits, and how many they are.
fn whole_lines(kept: &[u8]) -> (String, usize) {
    let mut end = 0;
    let mut count = 0;
    for line in kept.split(|byte| *byte == b'\n').take(MAX_LINES) {
        let next = end + line.len() + usize::from(count > 0);
        if next > MAX_BYTES {
            break;
        }
        end = next;
        count += 1;
    }
    (String::from_utf8_lossy(&kept[..end]).into_owned(), count)
}
