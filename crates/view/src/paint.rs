//! Lines as text: the only file that knows colours.
//!
//! Colours are the sixteen that a person's theme decides about, and no colour carries meaning
//! alone.

use pi_subagents_vocabulary::text;

use crate::{Line, Role, Span};

/// The way in which lines become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Without colours.
    Plain,
    /// With the colours of a terminal.
    Ansi,
}

impl Paint {
    /// Formats a line as text.
    pub fn line(self, line: &Line) -> String {
        let mut text = String::new();
        self.write(line, &mut text);
        text
    }

    /// Appends a line to a text.
    pub fn write(self, line: &Line, text: &mut String) {
        for span in line.spans() {
            match self {
                Self::Plain => text.push_str(span.text()),
                Self::Ansi => text.push_str(&painted(span)),
            }
        }
    }
}

/// Formats a line as text without colours.
pub fn plain(line: &Line) -> String {
    Paint::Plain.line(line)
}

/// Formats a line as text for a terminal.
pub fn ansi(line: &Line) -> String {
    Paint::Ansi.line(line)
}

/// Cuts a line to a number of terminal columns; a cut line ends in [`text::CUT_MARK`].
pub fn fit(line: &Line, columns: usize) -> Line {
    if line.width() <= columns {
        return line.clone();
    }
    let mut kept = Line::default();
    let mut left = columns;
    for span in line.spans() {
        let is_last = span.width() + text::CUT_MARK.len() > left;
        if !is_last {
            left -= span.width();
            kept.push(span.clone());
            continue;
        }
        // The next span does not fit either, so even a span that would fit makes room for the mark.
        let crowded = format!("{}{}", span.text(), " ".repeat(left + 1));
        kept.push(Span::new(span.role(), &text::cut_columns(&crowded, left)));
        break;
    }
    kept
}

/// The look of a role on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As everything else.
    Usual,
    /// Bold.
    Bold,
    /// Slanted.
    Italic,
    /// In one of the sixteen colours, by its number.
    Colour(u8),
    /// On a ground of one of them; without colours bold and underlined.
    Marked(u8),
}

impl Look {
    /// Returns how a role looks.
    pub fn of(role: Role) -> Self {
        match role {
            Role::Plain => Self::Usual,
            Role::Title | Role::Heading | Role::Strong => Self::Bold,
            Role::Emphasis => Self::Italic,
            Role::Muted | Role::Quote => Self::Colour(8),
            Role::Added | Role::Success => Self::Colour(2),
            Role::Removed | Role::Failed => Self::Colour(1),
            Role::Accent | Role::Code => Self::Colour(6),
            Role::Warning => Self::Colour(3),
            Role::Keyword => Self::Colour(5),
            Role::Literal => Self::Colour(4),
            Role::AddedPart => Self::Marked(2),
            Role::RemovedPart => Self::Marked(1),
        }
    }

    fn code(self) -> Option<String> {
        let colour = |number: u8| match number {
            dim @ 0..8 => 30 + dim,
            bright => 82 + bright,
        };
        match self {
            Self::Usual => None,
            Self::Bold => Some("1".to_owned()),
            Self::Italic => Some("3".to_owned()),
            Self::Colour(number) => Some(colour(number).to_string()),
            Self::Marked(number) => Some(format!("7;{}", colour(number))),
        }
    }
}

fn painted(span: &Span) -> String {
    match Look::of(span.role()).code() {
        Some(code) => format!("\u{1b}[{code}m{}\u{1b}[0m", span.text()),
        None => span.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit() -> Line {
        Line::new(Role::Muted, "edit → 日本語.rs ")
            .with(Role::Added, "+12")
            .with(Role::Muted, "/")
            .with(Role::Removed, "-3")
    }

    #[test]
    fn a_line_is_cut_by_what_a_terminal_shows() {
        let cut: Vec<String> = [40, 23, 22, 18, 10, 3, 1, 0]
            .map(|columns| {
                let line = fit(&edit(), columns);
                assert!(line.width() <= columns, "{columns}");
                format!("{columns:2} {}", plain(&line))
            })
            .into();
        insta::assert_snapshot!(cut.join("\n"), @"
        40 edit → 日本語.rs +12/-3
        23 edit → 日本語.rs +12/-3
        22 edit → 日本語.rs +1...
        18 edit → 日本語.r...
        10 edit → ...
         3 ...
         1 .
         0
        ");
    }

    #[test]
    fn colours_end_with_their_span() {
        insta::assert_snapshot!(ansi(&edit()).escape_debug(), @r"\u{1b}[90medit → 日本語.rs \u{1b}[0m\u{1b}[32m+12\u{1b}[0m\u{1b}[90m/\u{1b}[0m\u{1b}[31m-3\u{1b}[0m");
    }

    #[test]
    fn no_line_can_hold_a_command_for_the_terminal() {
        let line = Line::new(Role::Plain, "a\u{1b}[2Jb\nc\td\r\u{7}")
            .with(Role::Failed, "\u{1b}]0;x\u{7}");
        assert_eq!(plain(&line), "ab c    d");
        assert_eq!(line.spans().len(), 1);
    }
}
