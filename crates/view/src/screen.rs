//! Frames on a terminal: each frame takes the place of the one before, without another screen.

use std::io::{self, Write};

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::{Line, Paint};

/// The frame appears at once, is not seen being drawn, and never wraps, not even where the
/// terminal and we disagree about the width of an emoji.
const BEGIN_FRAME: &str = "\u{1b}[?2026h\u{1b}[?25l\u{1b}[?7l";
const END_FRAME: &str = "\u{1b}[?7h\u{1b}[?2026l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
/// Clears the row before it is written: behind a full row the cursor is on its last cell.
const CLEAR_ROW: &str = "\u{1b}[K";
/// Clears the rows below. Never from the first row, where tmux would keep the frame as history.
const CLEAR_BELOW: &str = "\r\n\u{1b}[J\u{1b}[1A";

/// The room on a terminal, or on a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScreenSize {
    /// The number of columns.
    pub columns: usize,
    /// The number of rows.
    pub rows: usize,
}

/// The keyboard of a terminal on which frames are drawn: what a person types would be echoed into
/// them.
pub trait Keyboard: Send {
    /// Returns whether this process has the terminal. A job in the background does not.
    fn is_ours(&self) -> bool;

    /// Keeps what is typed from being shown.
    fn hush(&mut self);

    /// Shows again what is typed.
    fn restore(&mut self);
}

/// A terminal on which nobody types.
pub struct NoKeyboard;

impl Keyboard for NoKeyboard {
    fn is_ours(&self) -> bool {
        true
    }

    fn hush(&mut self) {}

    fn restore(&mut self) {}
}

/// A place at the bottom of a terminal where frames are drawn.
pub(crate) struct Screen {
    output: Box<dyn Write + Send>,
    keyboard: Box<dyn Keyboard>,
    paint: Paint,
    /// The frame that is on the screen now; the cursor is at the end of its last line.
    drawn: Vec<Line>,
    is_cursor_hidden: bool,
}

impl Screen {
    pub(crate) fn new(
        output: Box<dyn Write + Send>,
        keyboard: Box<dyn Keyboard>,
        paint: Paint,
    ) -> Self {
        Self {
            output,
            keyboard,
            paint,
            drawn: Vec::new(),
            is_cursor_hidden: false,
        }
    }

    /// Returns whether frames may be drawn: in the background they would be drawn over the shell.
    pub(crate) fn is_ours(&self) -> bool {
        self.keyboard.is_ours()
    }

    /// Draws a frame in place of the last one; an equal frame costs nothing.
    pub(crate) fn draw(&mut self, lines: Vec<Line>, size: ScreenSize) -> io::Result<()> {
        if lines == self.drawn {
            return Ok(());
        }
        let frame = self.frame(&lines, size);
        if !std::mem::replace(&mut self.is_cursor_hidden, true) {
            self.keyboard.hush();
        }
        self.drawn = lines;
        self.write(&frame)
    }

    /// Rings the bell of the terminal.
    pub(crate) fn ring(&mut self) -> io::Result<()> {
        self.write("\u{7}")
    }

    /// Leaves these lines on the screen for good and gives the cursor back.
    pub(crate) fn leave(&mut self, lines: &[Line], size: ScreenSize) -> io::Result<()> {
        let frame = self.frame(lines, size);
        self.drawn.clear();
        self.is_cursor_hidden = false;
        self.keyboard.restore();
        self.write(&format!("{frame}\r\n{SHOW_CURSOR}"))
    }

    /// Takes the frame off the screen and gives the cursor back where it began.
    pub(crate) fn erase(&mut self, size: ScreenSize) -> io::Result<()> {
        if self.drawn.is_empty() {
            return Ok(());
        }
        let frame = self.frame(&[Line::default()], size);
        self.drawn.clear();
        self.is_cursor_hidden = false;
        self.keyboard.restore();
        self.write(&format!("{frame}\r{SHOW_CURSOR}"))
    }

    /// Leaves the frame where it is and gives the cursor back; the next frame begins below.
    pub(crate) fn rest(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_cursor_hidden, false) {
            return Ok(());
        }
        self.drawn.clear();
        self.keyboard.restore();
        self.write(&format!("{END_FRAME}\r\n{SHOW_CURSOR}"))
    }

    fn frame(&self, lines: &[Line], size: ScreenSize) -> String {
        let height = self.height(size);
        let rows: Vec<String> = lines
            .iter()
            .map(|line| format!("{CLEAR_ROW}{}", self.paint.line(line)))
            .collect();
        let to_first_row = match height.saturating_sub(1) {
            0 => "\r".to_owned(),
            up => format!("\r\u{1b}[{up}A"),
        };
        let clear_rest = if height > lines.len() {
            CLEAR_BELOW
        } else {
            ""
        };
        let rows = rows.join("\r\n");
        format!("{BEGIN_FRAME}{to_first_row}{rows}{clear_rest}{END_FRAME}")
    }

    /// Returns how many rows the last frame takes; a terminal that became narrower has wrapped its
    /// lines.
    fn height(&self, ScreenSize { columns, rows }: ScreenSize) -> usize {
        let height: usize = self
            .drawn
            .iter()
            .map(|line| wrapped_rows(&line.text(), columns.max(1)))
            .sum();
        height.min(rows.max(1))
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes())?;
        self.output.flush()
    }
}

/// Returns the number of rows that a terminal makes of a line: a wide character that does not fit
/// begins the next row.
fn wrapped_rows(line: &str, columns: usize) -> usize {
    if line.is_ascii() {
        return line.len().div_ceil(columns).max(1);
    }
    let (mut rows, mut used) = (1, 0);
    for grapheme in line.graphemes(true) {
        let width = grapheme.width();
        if used + width > columns {
            rows += 1;
            used = 0;
        }
        used += width;
    }
    rows
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.keyboard.restore();
        if self.is_cursor_hidden {
            // A terminal that is gone has no cursor to give back.
            let _ = self.write(&format!("{END_FRAME}\r\n{SHOW_CURSOR}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_became_narrower_has_wrapped_by_whole_characters() {
        let wide = "日本語日本語";
        let rows = [12, 6, 5, 4, 3, 1].map(|columns| wrapped_rows(wide, columns));
        assert_eq!(rows, [1, 2, 3, 3, 6, 7]);
        assert_eq!(
            ["", "abc", "abcdef", "abcdefg"].map(|line| wrapped_rows(line, 3)),
            [1, 1, 2, 3]
        );
    }
}
