//! A terminal that knows just what the live view writes, and refuses everything else.

use unicode_width::UnicodeWidthChar;

/// The screen with what has scrolled out of it.
pub(crate) struct Emulator {
    columns: usize,
    rows: usize,
    /// All lines ever, the screen being the last `rows` of them; a wide character fills two cells.
    lines: Vec<Vec<String>>,
    row: usize,
    column: usize,
    pub(crate) is_cursor_shown: bool,
    pub(crate) is_wrapping: bool,
}

impl Emulator {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            rows,
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
            is_cursor_shown: true,
            is_wrapping: true,
        }
    }

    /// Returns the text on the screen and above it.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(|line| line.concat()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    pub(crate) fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            match character {
                '\r' => self.column = 0,
                '\n' => self.feed(),
                '\u{1b}' => rest = self.obey(rest),
                character => self.put(character),
            }
        }
    }

    fn feed(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, character: char) {
        let width = character.width().expect("no control characters");
        let line = &mut self.lines[self.row];
        if width == 0 {
            line.last_mut().unwrap().push(character);
            return;
        }
        assert!(self.column + width <= self.columns, "a line is too wide");
        assert_eq!(line.len(), self.column, "lines are written on clear rows");
        line.push(character.to_string());
        line.resize(self.column + width, String::new());
        self.column += width;
    }

    fn obey<'a>(&mut self, rest: &'a str) -> &'a str {
        let rest = rest.strip_prefix('[').expect("only control sequences");
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        match (&rest[..end], &rest[end..=end]) {
            (up, "A") => self.up(up.parse().unwrap()),
            ("", "K") => self.lines[self.row].truncate(self.column),
            ("", "J") => {
                assert!(self.row > self.top(), "tmux would keep the whole screen");
                self.lines.truncate(self.row + 1);
                self.lines[self.row].truncate(self.column);
            }
            (_, "m") | ("?2026", "h" | "l") => {}
            ("?25", switch) => self.is_cursor_shown = switch == "h",
            ("?7", switch) => self.is_wrapping = switch == "h",
            other => panic!("unknown control sequence {other:?}"),
        }
        &rest[end + 1..]
    }

    fn up(&mut self, rows: usize) {
        self.row = self.row.saturating_sub(rows).max(self.top());
    }

    fn top(&self) -> usize {
        self.lines.len().saturating_sub(self.rows)
    }
}
