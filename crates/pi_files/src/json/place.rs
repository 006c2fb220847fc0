//! Finds the position of a key or a value in a JSON text, which parsed values do not have.

use super::relaxed_json::string_length;
use crate::problem::Position;

/// A step from a value to a value inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An item of a list, counted from 0.
    Index(usize),
}

/// Returns the position of a key or an item in a JSON text: of the key if the path ends with one,
/// else of the beginning of the item.
pub fn position_of(text: &str, path: &[Step<'_>]) -> Option<Position> {
    let mark = text.len() - super::without_mark(text).len();
    let mut scanner = Scanner { text, at: mark };
    let at = scanner.find(path)?;
    Some(position(text, at))
}

/// Returns the line and column of a byte.
pub(super) fn position(text: &str, at: usize) -> Position {
    let before = &text[..at.min(text.len())];
    let line = before.rsplit('\n').next().unwrap_or_default();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let marks = line.chars().filter(|one| *one == '\u{feff}').count();
    Position {
        line: count(before.matches('\n').count() + 1),
        column: count(line.chars().count() - marks + 1),
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn find(&mut self, path: &[Step<'_>]) -> Option<usize> {
        self.skip_blank();
        match path {
            [] => Some(self.at),
            [Step::Key(key), rest @ ..] => self.find_key(key, rest),
            [Step::Index(index), rest @ ..] => {
                self.expect('[')?;
                for _ in 0..*index {
                    self.skip_value()?;
                    self.expect(',')?;
                }
                self.find(rest)
            }
        }
    }

    fn find_key(&mut self, wanted: &str, rest: &[Step<'_>]) -> Option<usize> {
        self.expect('{')?;
        loop {
            self.skip_blank();
            let begin = self.at;
            let written = self.string()?;
            self.expect(':')?;
            if serde_json::from_str::<String>(written).ok()? == wanted {
                return match rest {
                    [] => Some(begin),
                    more => self.find(more),
                };
            }
            self.skip_value()?;
            self.expect(',')?;
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        self.skip_blank();
        let mut depth = 0_usize;
        loop {
            let next = self.peek()?;
            match next {
                '"' => {
                    self.string()?;
                }
                '{' | '[' => {
                    depth += 1;
                    self.at += 1;
                }
                '}' | ']' | ',' if depth == 0 => return Some(()),
                '}' | ']' => {
                    depth -= 1;
                    self.at += 1;
                }
                other => self.at += other.len_utf8(),
            }
        }
    }

    fn string(&mut self) -> Option<&'a str> {
        let begin = self.at;
        if self.peek()? != '"' {
            return None;
        }
        self.at += string_length(&self.text[begin..]);
        Some(&self.text[begin..self.at])
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        self.skip_blank();
        (self.peek()? == wanted).then(|| self.at += wanted.len_utf8())
    }

    fn skip_blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_items_are_found_wherever_they_are() {
        let text =
            "{\"x\": {\"b\": [1, \"]\"]}, \"ä\": 2,\n  \"a\": {\"b\": [{}, {\"c\\u0064\": 3}]}}";
        let at =
            |path: &[Step<'_>]| position_of(text, path).map(|found| (found.line, found.column));
        assert_eq!(at(&[]), Some((1, 1)));
        assert_eq!(at(&[Step::Key("ä")]), Some((1, 24)));
        assert_eq!(at(&[Step::Key("a"), Step::Key("b")]), Some((2, 9)));
        let deep = [Step::Key("a"), Step::Key("b"), Step::Index(1)];
        assert_eq!(at(&deep), Some((2, 19)));
        let deeper = [&deep[..], &[Step::Key("cd")]].concat();
        assert_eq!(at(&deeper), Some((2, 20)));
        assert_eq!(at(&[Step::Key("b")]), None);
        assert_eq!(at(&[Step::Key("a"), Step::Index(0)]), None);
        assert_eq!(position_of("not JSON", &[Step::Key("a")]), None);
    }
}
