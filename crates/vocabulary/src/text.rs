//! Cutting, cleaning and counting of texts, for windows, transcripts and answers alike.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The end of a text that was cut.
pub const CUT_MARK: &str = "...";

/// Cuts a text to a number of characters; a cut text ends in [`CUT_MARK`].
pub fn cut_characters(text: &str, limit: usize) -> String {
    match text.grapheme_indices(true).nth(limit) {
        Some((end, _)) => format!("{}{CUT_MARK}", &text[..end]),
        None => text.to_owned(),
    }
}

/// Cuts a text to a number of bytes without splitting a character.
pub fn cut_bytes(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str(CUT_MARK);
    }
    text
}

/// Cuts a text to a number of terminal columns; a cut text ends in [`CUT_MARK`].
///
/// The part behind the cut is never measured: lines of progress are cut from whole messages.
pub fn cut_columns(text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(CUT_MARK.len());
    let mark = &CUT_MARK[..CUT_MARK.len().min(columns)];
    // What is shown is seldom anything but plain characters, of which each takes a column.
    let beginning = text.as_bytes().iter().take(columns.saturating_add(1));
    if beginning.copied().all(is_plain) {
        return match text.get(..room) {
            Some(kept) if text.len() > columns => format!("{kept}{mark}"),
            Some(_) | None => text.to_owned(),
        };
    }
    let mut used = 0;
    let mut kept = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > columns {
            return format!("{}{mark}", &text[..kept]);
        }
        if used <= room {
            kept = start + grapheme.len();
        }
    }
    text.to_owned()
}

/// Returns the end of a text that fits a number of terminal columns; a cut text begins with
/// [`CUT_MARK`]. The part before the cut is never measured.
pub fn end_columns(text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(CUT_MARK.len());
    let mut used = 0;
    let mut kept = text.len();
    for (start, grapheme) in text.grapheme_indices(true).rev() {
        used += grapheme.width();
        if used > columns {
            let mark = &CUT_MARK[..CUT_MARK.len().min(columns)];
            return format!("{mark}{}", &text[kept..]);
        }
        if used <= room {
            kept = start;
        }
    }
    text.to_owned()
}

/// Puts a text on one line, with one space between its words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names the first of some things, and counts the others: `a, b and 2 more`.
pub fn first_of<I>(names: I, most: usize, separator: &str) -> String
where
    I: IntoIterator<Item = String>,
    I::IntoIter: ExactSizeIterator,
{
    let names = names.into_iter();
    let more = names.len().saturating_sub(most);
    let first: Vec<String> = names.take(most).collect();
    let first = first.join(separator);
    match more {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Writes a value as one word of a shell's command line.
pub fn shell_quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=@%+".contains(letter);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// Returns how many columns of a terminal a text without control characters takes.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// Writes rows of texts without control characters below each other, each column as wide as its
/// widest text, with two spaces between them.
pub fn aligned(table: &[Vec<String>]) -> String {
    let width_of = |column: usize| {
        let widths = table
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| columns(cell));
        widths.max().unwrap_or_default()
    };
    let lines = table.iter().map(|row| {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = width_of(column) - columns(cell) + 2;
            line += cell;
            line += &" ".repeat(gap);
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes escape sequences and control characters; tabs become spaces.
///
/// The output of a child is data: nothing in it may move a cursor or set a title.
pub fn clean(text: &str) -> String {
    let clean = text.bytes().position(|byte| !is_plain(byte));
    let (clean, rest) = text.split_at(clean.unwrap_or(text.len()));
    let mut kept = String::with_capacity(text.len());
    kept.push_str(clean);
    let mut rest = rest.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
            '\t' => kept.push_str("    "),
            '\n' => kept.push('\n'),
            character if is_harmful(character) => {}
            character => kept.push(character),
        }
    }
    kept
}

/// Returns whether a byte is a character that takes one column and does nothing else. A range that is
/// asked would be a call for each byte where the program is made small.
pub fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Returns whether a character controls the terminal, or reorders or hides the text around it.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        // Invisible characters are dropped, but scripts and emoji need the joiners.
        || matches!(character, '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Escapes in a line of JSON all characters that [`clean`] would remove, so that a terminal can
/// show the line and its meaning stays the same.
pub fn escape_json(line: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| is_harmful(character) && character != '\n';
    if !line.contains(is_escaped) {
        return Cow::Borrowed(line);
    }
    let mut escaped = String::with_capacity(line.len() + 16);
    for character in line.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn skip_escape(rest: &mut std::str::Chars<'_>) {
    // A child may print any number of these before the character that ends the sequence.
    while matches!(rest.clone().next(), Some(' '..='/')) {
        rest.next();
    }
    match rest.clone().next() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | '^' | '_' | 'X') => {
            rest.next();
            skip_string(rest);
        }
        Some('0'..='~') => {
            rest.next();
        }
        Some(_) | None => {}
    }
}

fn skip_control_sequence(rest: &mut std::str::Chars<'_>) {
    while let Some(character) = rest.clone().next() {
        if !matches!(character, ' '..='~') {
            return;
        }
        rest.next();
        if matches!(character, '@'..='~') {
            return;
        }
    }
}

/// Skips to the end of an operating system command or the like. It ends with its line at the
/// latest, so that an unclosed one cannot swallow the text behind it.
fn skip_string(rest: &mut std::str::Chars<'_>) {
    while let Some(character) = rest.clone().next() {
        if character == '\n' {
            return;
        }
        rest.next();
        match character {
            '\u{07}' | '\u{9c}' => return,
            '\u{1b}' => {
                if rest.clone().next() == Some('\\') {
                    rest.next();
                }
                return;
            }
            _ => {}
        }
    }
}

/// Formats a duration for people: `340ms`, `4.2s`, `3m 05s`, `2h 10m`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Formats a count with its noun: `1 run`, `3 runs`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_after_it_was_escaped() {
        let hostile = "{\"a\":\"x\u{9b}2J\u{202e}y\u{200b}\u{e0041}\u{7f}é\"}\n";
        let escaped = escape_json(hostile);
        assert_eq!(
            escaped,
            "{\"a\":\"x\\u009b2J\\u202ey\\u200b\\udb40\\udc41\\u007fé\"}\n"
        );
        assert_eq!(escape_json("{\"a\":\"é\"}\n"), "{\"a\":\"é\"}\n");
    }

    #[test]
    fn the_first_of_many_are_named_and_the_others_counted() {
        let named = |most| first_of(["a", "b", "c"].map(str::to_owned), most, "; ");
        assert_eq!(named(3), "a; b; c");
        assert_eq!(named(2), "a; b and 1 more");
        assert_eq!(first_of([], 2, ", "), "");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = [row(["日本", "+1", "new"]), row(["a", "binary", ""])];
        assert_eq!(aligned(&table), "日本  +1      new\na     binary");
    }

    #[test]
    fn a_shell_reads_a_quoted_value_as_one_word() {
        for (value, quoted) in [
            ("/a/b-1.log", "/a/b-1.log"),
            ("/a b", "'/a b'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_quoted(value), quoted);
        }
    }

    #[test]
    fn cuts_never_split_a_character() {
        assert_eq!(cut_characters("héllo", 5), "héllo");
        assert_eq!(
            cut_characters("e\u{301}e\u{301}e\u{301}", 2),
            "e\u{301}e\u{301}..."
        );
        assert_eq!(cut_bytes("aé".to_owned(), 2), "a...");
        assert_eq!(cut_columns("日本語です", 8), "日本...");
        assert_eq!(cut_columns("日本", 4), "日本");
        assert_eq!(cut_columns("abc", 2), "..");
        assert_eq!(cut_columns("abc", 3), "abc");
        assert_eq!(cut_columns("abcd", 3), "...");
        assert_eq!(cut_columns("abcdefg", 6), "abc...");
        assert_eq!(cut_columns("ab", usize::MAX), "ab");
        // What joins the last character that fits is behind the first one that does not.
        assert_eq!(cut_columns("abcdefg\u{301}", 6), "abc...");
        assert_eq!(cut_columns("abcdef\u{301}", 6), "abcdef\u{301}");
        assert_eq!(end_columns("日本語です", 8), "...です");
        assert_eq!(end_columns("日本", 4), "日本");
        assert_eq!(end_columns("abc", 2), "..");
    }

    #[test]
    fn nothing_a_child_prints_reaches_the_terminal_as_a_command() {
        let hostile = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y \u{1b}(Bz\r\u{8}\u{9b}2J\tk\u{202e}\u{1b}";
        assert_eq!(clean(hostile), "red xy z    k");
        assert_eq!(clean("\u{1b}]0;never closed\nnext"), "\nnext");
        assert_eq!(clean("emoji 👩‍👩‍👧 stays"), "emoji 👩‍👩‍👧 stays");
        assert_eq!(clean("a\u{200b}b\u{e0041}c\u{2060}d"), "abcd");
        let endless = format!("a\u{1b}{}zb", " ".repeat(1 << 18));
        assert_eq!(clean(&endless), "ab");
    }

    #[test]
    fn durations_and_counts_read_as_people_say_them() {
        let said: Vec<String> = [340, 4_250, 185_000, 7_800_000]
            .map(|milliseconds| duration(Duration::from_millis(milliseconds)))
            .into();
        assert_eq!(said, ["340ms", "4.2s", "3m 05s", "2h 10m"]);
        assert_eq!(count(1, "run"), "1 run");
        assert_eq!(count(0, "run"), "0 runs");
    }
}
