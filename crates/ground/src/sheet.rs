//! Prints lines to stdout: with colours and fitted to its width on a terminal, whole and plain in a
//! pipe.

use std::io::{self, IsTerminal as _};

use jiff::tz::TimeZone;
use pi_subagents_view::{Line, Paint, Role, figures, wrap};
use pi_subagents_vocabulary::{Timestamp, text};

use crate::places::Places;
use crate::{colour, terminal};

/// The paper that lines are printed on: a terminal or a pipe.
#[derive(Debug, Clone)]
pub struct Sheet {
    paint: Paint,
    /// The width of the sheet; a pipe has no width.
    columns: Option<usize>,
    /// The height of the sheet.
    rows: Option<usize>,
    zone: TimeZone,
}

impl Sheet {
    /// Looks at stdout.
    pub fn of_stdout(places: &Places) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let size = is_terminal.then(|| terminal::size(io::stdout()));
        Self {
            paint: colour::paint(places, is_terminal),
            columns: size.map(|(columns, _)| columns),
            rows: size.map(|(_, rows)| rows),
            zone: TimeZone::system(),
        }
    }

    /// Returns how lines become text on it.
    pub fn paint(&self) -> Paint {
        self.paint
    }

    /// Returns whether this number of lines is more than it shows at once.
    pub fn is_longer(&self, lines: usize) -> bool {
        self.rows.is_some_and(|rows| lines >= rows)
    }

    /// Makes the sheet of a pipe, wherever stdout leads.
    pub fn of_pipe() -> Self {
        Self {
            paint: Paint::Plain,
            columns: None,
            rows: None,
            zone: TimeZone::UTC,
        }
    }

    /// Makes a terminal of this width without colours, for tests.
    pub fn plain(columns: Option<usize>) -> Self {
        Self {
            paint: Paint::Plain,
            columns,
            rows: columns.map(|_| terminal::USUAL_SIZE.1),
            zone: TimeZone::UTC,
        }
    }

    /// Returns how wide it is; `None` for a pipe.
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Returns the zone of the times that a person reads.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Writes when something happened: for a person as short as it is clear, for a pipe always in
    /// full and in UTC.
    pub fn moment(&self, at: Timestamp, now: Timestamp) -> String {
        match self.columns {
            Some(_) => figures::moment(at, now, &self.zone),
            None => format!("{at:.0}"),
        }
    }

    /// Writes the time of something in a log: the time of day on a terminal, with the date if that
    /// was not today; for a pipe always in full and in UTC.
    pub fn time(&self, at: Timestamp, now: Timestamp) -> String {
        let day = |time: Timestamp| time.to_zoned(self.zone.clone()).date();
        match self.columns {
            None => format!("{at:.0}"),
            Some(_) if day(at) == day(now) => figures::time_of_day(at, &self.zone),
            Some(_) => figures::date_and_time(at, &self.zone),
        }
    }

    /// Breaks a line so that it fits; the rows after the first are indented by `margin`.
    pub fn hang(&self, line: &Line, margin: usize) -> Vec<Line> {
        match self.columns {
            Some(columns) if line.width() > columns => hung(line, margin, columns),
            Some(_) | None => vec![line.clone()],
        }
    }

    /// Cuts lines to the number that the terminal can show at once, with a count of the hidden
    /// ones.
    pub fn cut(&self, lines: &mut Vec<Line>) {
        // The last row stays free for the cursor.
        let room = self.rows.map_or(usize::MAX, |rows| rows.saturating_sub(1));
        if lines.len() > room {
            let hidden = lines.len() + 1 - room;
            lines.truncate(room.saturating_sub(1));
            let words = format!("… {} hidden", text::count(hidden, "line"));
            lines.push(Line::new(Role::Muted, &words));
        }
    }

    /// Returns lines as text.
    pub fn text(&self, lines: &[Line]) -> String {
        let mut text = String::new();
        for (place, line) in lines.iter().enumerate() {
            if place > 0 {
                text.push('\n');
            }
            self.paint.write(line, &mut text);
        }
        text
    }
}

fn hung(line: &Line, margin: usize, columns: usize) -> Vec<Line> {
    // A margin as wide as the terminal would leave no room for words.
    let margin = margin.min(columns / 2);
    let mut rows = wrap(line, columns).into_iter();
    let Some(first) = rows.next() else {
        return Vec::new();
    };
    let rest = behind(line, &first);
    let further = wrap(&rest, columns - margin);
    let further = further.iter().filter(|row| row.width() > 0);
    std::iter::once(first)
        .chain(further.map(|row| indented(row, margin)))
        .collect()
}

/// Returns the rest of a line behind its first row and the spaces after it.
fn behind(line: &Line, first: &Line) -> Line {
    let mut skip = first.text().len();
    let mut is_begun = false;
    let mut rest = Line::default();
    for span in line.spans() {
        let text = span.text();
        let kept = &text[text.floor_char_boundary(skip.min(text.len()))..];
        skip = skip.saturating_sub(text.len());
        let kept = if is_begun {
            kept
        } else {
            kept.trim_start_matches(' ')
        };
        is_begun |= !kept.is_empty();
        rest = rest.with(span.role(), kept);
    }
    rest
}

fn indented(row: &Line, margin: usize) -> Line {
    let line = Line::new(Role::Plain, &" ".repeat(margin));
    row.spans()
        .iter()
        .fold(line, |line, span| line.with(span.role(), span.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_says_what_it_hides() {
        let lines = |count: usize| -> Vec<Line> {
            let lines = (1..=count).map(|number| Line::new(Role::Plain, &number.to_string()));
            lines.collect()
        };
        let cut = |count| {
            let mut lines = lines(count);
            Sheet::plain(Some(80)).cut(&mut lines);
            let last = lines.last().map(Line::text).unwrap_or_default();
            (lines.len(), last)
        };
        assert_eq!(cut(23), (23, "23".to_owned()));
        assert_eq!(cut(24), (23, "… 2 lines hidden".to_owned()));
        assert_eq!(cut(100), (23, "… 78 lines hidden".to_owned()));
        let mut all = lines(100);
        Sheet::of_pipe().cut(&mut all);
        assert_eq!(all.len(), 100);
    }

    #[test]
    fn a_long_line_goes_on_below_its_words() {
        let line = Line::new(Role::Success, "ok       ")
            .with(Role::Title, "program    ")
            .with(Role::Plain, "version 0.1 of 日本語 in a long directory");
        let rows = |columns| {
            let rows = Sheet::plain(columns).hang(&line, 20);
            rows.iter().map(Line::text).collect::<Vec<_>>()
        };
        assert_eq!(rows(None), [line.text()]);
        assert_eq!(rows(Some(80)), [line.text()]);
        assert_eq!(
            rows(Some(44)),
            [
                "ok       program    version 0.1 of 日本語 in",
                "                    a long directory",
            ]
        );
        assert_eq!(
            rows(Some(30)),
            [
                "ok       program    version",
                "               0.1 of 日本語",
                "               in a long",
                "               directory",
            ]
        );
    }
}
