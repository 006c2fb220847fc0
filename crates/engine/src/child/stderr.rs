//! A child's stderr: text and nothing else.

use std::collections::VecDeque;

use memchr::memrchr;
use pi_subagents_vocabulary::text::cut_characters;

use super::inbox::Splitter;

/// Longer lines are broken.
const LONGEST_LINE: usize = 16 << 10;

/// The number of last lines that explain a child that failed.
const LAST_LINES: usize = 5;

/// The number of characters that are kept of each of these lines.
const LAST_LINE_CHARACTERS: usize = 400;

/// Gathers the lines of a child's stderr and remembers its last ones. All lines that came at once
/// are one text: a child may flood its stderr, and nobody looks at each line.
#[derive(Debug, Default)]
pub(crate) struct StderrLines {
    partial: Vec<u8>,
    last: VecDeque<String>,
}

impl Splitter for StderrLines {
    type Line = String;

    fn feed(&mut self, chunk: &[u8], texts: &mut Vec<String>) {
        let Some(end) = memrchr(b'\n', chunk) else {
            return self.extend(chunk, texts);
        };
        self.partial.extend_from_slice(&chunk[..end]);
        self.complete(texts);
        self.extend(&chunk[end + 1..], texts);
    }

    fn finish(&mut self, texts: &mut Vec<String>) {
        self.complete(texts);
    }
}

impl StderrLines {
    /// Returns the last lines as one text, to explain why a child failed.
    pub(crate) fn last_words(&self) -> String {
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    /// Takes the beginning of a line whose end has not come.
    fn extend(&mut self, bytes: &[u8], texts: &mut Vec<String>) {
        for piece in bytes.chunks(LONGEST_LINE) {
            if self.partial.len() + piece.len() > LONGEST_LINE {
                self.complete(texts);
            }
            self.partial.extend_from_slice(piece);
        }
    }

    fn complete(&mut self, texts: &mut Vec<String>) {
        let text = String::from_utf8_lossy(&self.partial);
        let text = text.trim_end();
        if !text.is_empty() {
            remember(&mut self.last, text);
            texts.push(text.to_owned());
        }
        self.partial.clear();
    }
}

/// Adds the last lines of a text. Only its end is read, however long it is.
fn remember(last: &mut VecDeque<String>, text: &str) {
    let lines = text.rsplit('\n').map(str::trim_end);
    let newest: Vec<&str> = lines
        .filter(|line| !line.is_empty())
        .take(LAST_LINES)
        .collect();
    for line in newest.into_iter().rev() {
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(cut_characters(line, LAST_LINE_CHARACTERS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_and_the_last_ones_remembered() {
        let mut stderr = StderrLines::default();
        let mut texts = Vec::new();
        stderr.feed(b"one\n\ntw", &mut texts);
        stderr.feed(b"o\n", &mut texts);
        stderr.feed(&vec![b'x'; 3 * LONGEST_LINE], &mut texts);
        stderr.feed(b"\nlast", &mut texts);
        stderr.finish(&mut texts);
        let lengths: Vec<usize> = texts.iter().map(String::len).collect();
        assert_eq!(lengths, [3, 3, LONGEST_LINE, LONGEST_LINE, LONGEST_LINE, 4]);
        let cut = format!("{}...", "x".repeat(LAST_LINE_CHARACTERS));
        assert_eq!(
            stderr.last_words(),
            format!("two\n{cut}\n{cut}\n{cut}\nlast")
        );
    }

    #[test]
    fn lines_that_come_at_once_are_one_text() {
        let mut stderr = StderrLines::default();
        let mut texts = Vec::new();
        stderr.feed(b"a\n\nb\nc\nd\ne\nf\ng", &mut texts);
        assert_eq!(texts, ["a\n\nb\nc\nd\ne\nf"]);
        assert_eq!(stderr.last_words(), "b\nc\nd\ne\nf");
    }
}
