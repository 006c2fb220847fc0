//! Frames on a terminal: each one takes the place of the one before, without another screen.

use std::io::{self, Write};

use crate::{Line, Paint};

/// The frame appears at once, is not seen being drawn, and never wraps, not even where the
/// terminal and we disagree about the width of an emoji.
const BEGIN_FRAME: &str = "\u{1b}[?2026h\u{1b}[?25l\u{1b}[?7l";
const END_FRAME: &str = "\u{1b}[?7h\u{1b}[?2026l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_TO_END: &str = "\r\u{1b}[J";

/// A place at the bottom of a terminal where frames are drawn.
pub(crate) struct Screen {
    output: Box<dyn Write + Send>,
    paint: Paint,
    /// The frame that is on the screen now; the cursor is at the end of its last line.
    drawn: Vec<Line>,
    is_cursor_hidden: bool,
}

impl Screen {
    pub(crate) fn new(output: Box<dyn Write + Send>, paint: Paint) -> Self {
        Self {
            output,
            paint,
            drawn: Vec::new(),
            is_cursor_hidden: false,
        }
    }

    /// Draws a frame in place of the last one; an equal one costs nothing.
    pub(crate) fn draw(
        &mut self,
        lines: Vec<Line>,
        (columns, rows): (usize, usize),
    ) -> io::Result<()> {
        if lines == self.drawn {
            return Ok(());
        }
        let frame = format!(
            "{BEGIN_FRAME}{}{}{END_FRAME}",
            self.erasure(columns, rows),
            self.painted(&lines)
        );
        self.is_cursor_hidden = true;
        self.drawn = lines;
        self.write(&frame)
    }

    /// Leaves these lines on the screen for good and gives the cursor back.
    pub(crate) fn leave(
        &mut self,
        lines: &[Line],
        (columns, rows): (usize, usize),
    ) -> io::Result<()> {
        let frame = format!(
            "{BEGIN_FRAME}{}{}{END_FRAME}\r\n{SHOW_CURSOR}",
            self.erasure(columns, rows),
            self.painted(lines)
        );
        self.drawn.clear();
        self.is_cursor_hidden = false;
        self.write(&frame)
    }

    fn painted(&self, lines: &[Line]) -> String {
        let lines: Vec<String> = lines.iter().map(|line| self.paint.line(line)).collect();
        lines.join("\r\n")
    }

    /// Goes back to the first row of the last frame and clears what follows.
    ///
    /// A terminal that became narrower has wrapped the lines of that frame, so it may take more
    /// rows than it has lines.
    fn erasure(&self, columns: usize, rows: usize) -> String {
        let height: usize = self
            .drawn
            .iter()
            .map(|line| line.width().div_ceil(columns.max(1)).max(1))
            .sum();
        match height.min(rows.max(1)).saturating_sub(1) {
            0 => CLEAR_TO_END.to_owned(),
            up => format!("\u{1b}[{up}A{CLEAR_TO_END}"),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.output.write_all(text.as_bytes())?;
        self.output.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_cursor_hidden {
            // A terminal that is gone has no cursor to give back.
            let _ = self.write(&format!("{END_FRAME}\r\n{SHOW_CURSOR}"));
        }
    }
}
