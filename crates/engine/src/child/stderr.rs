//! What a child complains about: text and nothing else.

use std::collections::VecDeque;

use memchr::memchr;
use pi_subagents_delegation::text::cut_characters;

use super::inbox::Splitter;

/// Longer lines are broken.
const LONGEST_LINE: usize = 16 << 10;

/// How many of the last lines explain a child that failed.
const LAST_LINES: usize = 5;

/// How much of each of them.
const LAST_LINE_CHARACTERS: usize = 400;

/// Splits a child's stderr and remembers its last lines.
#[derive(Debug, Default)]
pub(crate) struct StderrLines {
    partial: Vec<u8>,
    last: VecDeque<String>,
}

impl Splitter for StderrLines {
    type Line = String;

    fn feed(&mut self, mut chunk: &[u8], lines: &mut Vec<String>) {
        while let Some(end) = memchr(b'\n', chunk) {
            self.extend(&chunk[..end], lines);
            self.complete(lines);
            chunk = &chunk[end + 1..];
        }
        self.extend(chunk, lines);
    }

    fn finish(&mut self, lines: &mut Vec<String>) {
        self.complete(lines);
    }
}

impl StderrLines {
    /// The last lines in one, to explain why a child failed.
    pub(crate) fn last_words(&self) -> String {
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    fn extend(&mut self, bytes: &[u8], lines: &mut Vec<String>) {
        for piece in bytes.chunks(LONGEST_LINE) {
            if self.partial.len() + piece.len() > LONGEST_LINE {
                self.complete(lines);
            }
            self.partial.extend_from_slice(piece);
        }
    }

    fn complete(&mut self, lines: &mut Vec<String>) {
        let line = String::from_utf8_lossy(&self.partial).trim_end().to_owned();
        self.partial.clear();
        if line.is_empty() {
            return;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last
            .push_back(cut_characters(&line, LAST_LINE_CHARACTERS));
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_and_the_last_ones_remembered() {
        let mut stderr = StderrLines::default();
        let mut lines = Vec::new();
        stderr.feed(b"one\n\ntw", &mut lines);
        stderr.feed(b"o\n", &mut lines);
        stderr.feed(&vec![b'x'; 3 * LONGEST_LINE], &mut lines);
        stderr.feed(b"\nlast", &mut lines);
        stderr.finish(&mut lines);
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [3, 3, LONGEST_LINE, LONGEST_LINE, LONGEST_LINE, 4]);
        let cut = format!("{}...", "x".repeat(LAST_LINE_CHARACTERS));
        assert_eq!(
            stderr.last_words(),
            format!("two\n{cut}\n{cut}\n{cut}\nlast")
        );
    }
}
