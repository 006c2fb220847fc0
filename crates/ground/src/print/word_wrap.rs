//! Breaks sentences between words, because a terminal breaks them anywhere.

use pi_subagents_vocabulary::text;

/// Breaks each line of a text that is wider than a terminal. Its further rows stand below its first
/// word.
///
/// A word that is wider than the terminal stays whole: the terminal breaks it, and a path or an id
/// can still be copied in one piece.
pub(super) fn wrapped(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| wrapped_line(line, columns))
        .collect();
    lines.join("\n")
}

fn wrapped_line(line: &str, columns: usize) -> String {
    if text::columns(line) <= columns {
        return line.to_owned();
    }
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    let margin = if indent * 2 < columns { indent } else { 0 };
    let mut rows = Rows::new(margin, columns);
    let mut rest = words;
    while !rest.is_empty() {
        let (word, behind) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        rest = behind.trim_start_matches(' ');
        rows.push(word, behind.len() - rest.len());
    }
    rows.text
}

/// The rows of one line while they are filled.
struct Rows {
    text: String,
    margin: usize,
    columns: usize,
    /// The columns of the last row that are taken.
    used: usize,
    /// The spaces between the last word and the next one.
    gap: usize,
}

impl Rows {
    fn new(margin: usize, columns: usize) -> Self {
        Self {
            text: " ".repeat(margin),
            margin,
            columns: columns.max(1),
            used: margin,
            gap: 0,
        }
    }

    /// Puts a word behind the last one, or below it where there is no room.
    fn push(&mut self, word: &str, gap: usize) {
        let width = text::columns(word);
        let is_first = self.used == self.margin;
        if !is_first && self.used + self.gap + width > self.columns {
            self.text.push('\n');
            self.text.push_str(&" ".repeat(self.margin));
            self.used = self.margin;
        } else {
            self.text.push_str(&" ".repeat(self.gap));
            self.used += self.gap;
        }
        self.text.push_str(word);
        self.used += width;
        if self.used > self.columns {
            // The terminal goes on in further rows of its own.
            self.used = (self.used - 1) % self.columns + 1;
        }
        self.gap = gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_breaks_between_words() {
        let text = "error: the run has nothing to keep  3f2a\n  caused by: no worktree of 日本語で\nhint: no";
        insta::assert_snapshot!(wrapped(text, 20), @"
        error: the run has
        nothing to keep
        3f2a
          caused by: no
          worktree of
          日本語で
        hint: no
        ");
        assert_eq!(wrapped(text, 80), text);
    }

    #[test]
    fn a_word_wider_than_the_terminal_stays_whole() {
        let path = "/a/very/long/path/of/a/project";
        let text = format!("hint: look at {path} first, please");
        let rows = wrapped(&text, 20);
        let rows: Vec<&str> = rows.split('\n').collect();
        // The terminal breaks the path after 20 columns, which leaves 10 in its second row.
        let second = format!("{path} first,");
        assert_eq!(rows, ["hint: look at", second.as_str(), "please"]);
    }

    #[test]
    fn no_width_is_too_small() {
        assert_eq!(wrapped("    a b", 3), "a b");
        assert_eq!(wrapped("ab cd", 0), "ab\ncd");
        assert_eq!(wrapped("", 0), "");
    }
}
