//! The output of a gate: its beginning and its end, however long it is.

use std::collections::VecDeque;

use pi_subagents_vocabulary::text;

use crate::child::Splitter;

/// The number of bytes that are kept of the beginning, and again of the end.
const KEPT: usize = 512 << 10;

/// The numbers of lines and of bytes that a sub-agent gets.
const TOLD_LINES: usize = 60;
const TOLD_BYTES: usize = 16 << 10;

/// The kept output of a gate.
#[derive(Debug, Default)]
pub(crate) struct GateOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// The number of bytes between them that are lost.
    lost: u64,
}

impl GateOutput {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT - self.head.len();
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..surplus);
        self.lost += u64::try_from(surplus).unwrap_or_default();
    }

    /// Returns the kept output, with a line about the missing part.
    pub(crate) fn kept(&self) -> Vec<u8> {
        let mut kept = self.head.clone();
        if self.lost > 0 {
            let lost = self.lost;
            kept.extend_from_slice(format!("\n[… {lost} bytes are left out …]\n").as_bytes());
        }
        kept.extend(&self.tail);
        kept
    }

    /// Returns the last lines, cleaned.
    pub(crate) fn tail(&self) -> String {
        let kept = self.kept();
        let begin = kept.len().saturating_sub(TOLD_BYTES);
        let words = text::clean(&String::from_utf8_lossy(&kept[begin..]));
        let lines: Vec<&str> = words.trim_end().lines().collect();
        let skipped = lines.len().saturating_sub(TOLD_LINES);
        lines[skipped..].join("\n")
    }
}

impl Splitter for GateOutput {
    type Line = ();

    fn feed(&mut self, chunk: &[u8], _lines: &mut Vec<()>) {
        self.add(chunk);
    }

    fn finish(&mut self, _lines: &mut Vec<()>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut output = GateOutput::default();
        output.add(b"first\n");
        for _ in 0..100 {
            output.add(&vec![b'x'; 1 << 20]);
        }
        output.add(b"\nlast\n");
        let kept = output.kept();
        assert!(kept.len() < (1 << 20) + 100);
        assert!(kept.starts_with(b"first\n"));
        assert!(kept.ends_with(b"\nlast\n"));
        assert!(output.tail().ends_with("\nlast"));
    }

    #[test]
    fn sixty_lines_are_told() {
        let mut output = GateOutput::default();
        let lines: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
        output.add(lines.join("\n").as_bytes());
        assert_eq!(output.tail().lines().count(), 60);
        assert!(output.tail().starts_with("41\n"));
    }
}
