//! Formats a line of the log. Pure.

use std::fmt::{self, Debug, Write};

use pi_subagents_vocabulary::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

use super::subscriber::OURS;

/// Longer values are cut after this many characters.
const LONGEST_VALUE: usize = 500;

/// Writes an event on one line: time, level, target, words, and the fields as `key=value`.
pub(super) fn line_of(event: &Event<'_>, at: Timestamp, run: Option<&str>) -> String {
    let metadata = event.metadata();
    let mut line = Line::begin(at, *metadata.level(), metadata.target());
    event.record(&mut line);
    if let Some(run) = run {
        line.add("run", &format_args!("{run}"));
    }
    line.end()
}

/// Writes the line with which a file begins.
pub(super) fn first_line(at: Timestamp, fields: &[(&str, &str)]) -> String {
    let mut line = Line::begin(at, Level::INFO, OURS);
    for (name, value) in fields {
        line.add(name, &format_args!("{value}"));
    }
    line.end()
}

/// A line that is being written.
struct Line {
    text: String,
    /// The words of the event, which come before its fields.
    words: String,
    fields: String,
}

impl Line {
    fn begin(at: Timestamp, level: Level, target: &str) -> Self {
        Self {
            text: format!("{at:.3} {level:5} {target}"),
            words: String::new(),
            fields: String::new(),
        }
    }

    fn add(&mut self, name: &str, value: &dyn Debug) {
        let mut written = Value::default();
        // A value that cannot be written is cut where it failed.
        _ = write!(written, "{value:?}");
        let text = written.text;
        let needs_quotes = text.is_empty() || text.contains([' ', '=', '"']);
        // Writing to a string cannot fail.
        _ = match (name, needs_quotes) {
            ("message", _) => write!(self.words, " {text}"),
            (name, true) => write!(self.fields, " {name}=\"{text}\""),
            (name, false) => write!(self.fields, " {name}={text}"),
        };
    }

    fn end(self) -> String {
        format!("{}{}{}\n", self.text, self.words, self.fields)
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field.name(), value);
    }

    /// Durations are in seconds; less than a millisecond means nothing.
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name(), &format_args!("{value:.3}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), &format_args!("{value}"));
    }
}

/// A value that stays on its line and is no longer than allowed.
#[derive(Default)]
struct Value {
    text: String,
    characters: usize,
}

impl Write for Value {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.characters += 1;
            match self.characters {
                ..=LONGEST_VALUE => self.write_safely(character),
                over if over == LONGEST_VALUE + 1 => self.text.push('…'),
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Value {
    /// Escapes the characters that would end the line or the quotes, move a cursor or turn the text
    /// around.
    fn write_safely(&mut self, character: char) {
        let turns_text = matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        if character.is_control() || turns_text || matches!(character, '"' | '\\') {
            self.text.extend(character.escape_default());
        } else {
            self.text.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn line(fields: &[(&str, &str)]) -> String {
        let at: Timestamp = "2026-11-16T09:30:00.0071Z".parse().unwrap();
        first_line(at, fields)
    }

    #[test]
    fn a_line_has_time_level_target_words_and_fields() {
        let text = line(&[("run", "r1"), ("message", "child started"), ("pid", "7")]);
        let expected = "2026-11-16T09:30:00.007Z INFO  pi_subagents child started run=r1 pid=7\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_value_stays_on_its_line_and_inside_its_quotes() {
        let text = line(&[
            ("a", "two words"),
            ("b", ""),
            ("c", "x=\"1\"\r\n\u{1b}[2J\u{202e}"),
        ]);
        let fields = text.split_once("pi_subagents ").unwrap().1;
        assert_eq!(
            fields,
            "a=\"two words\" b=\"\" c=\"x=\\\"1\\\"\\r\\n\\u{1b}[2J\\u{202e}\"\n"
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        let text = line(&[("a", &"é".repeat(LONGEST_VALUE + 9))]);
        let value = text.split_once("a=").unwrap().1;
        assert_eq!(value, format!("{}…\n", "é".repeat(LONGEST_VALUE)));
    }
}
