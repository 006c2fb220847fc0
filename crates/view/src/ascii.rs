//! Text for a terminal that knows only ASCII: every character keeps its width.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

/// An output that shows other characters in ASCII.
#[derive(Debug)]
pub struct AsciiOutput<W: Write>(W);

impl<W: Write> AsciiOutput<W> {
    /// Makes an output that writes to `output`.
    pub fn new(output: W) -> Self {
        Self(output)
    }
}

impl<W: Write> Write for AsciiOutput<W> {
    /// Writes all of it; a character must not be split over two calls.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(to_ascii(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns the text in ASCII, as wide as it was.
pub fn to_ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            character if character.is_ascii() => ascii.push(character),
            '✓' => ascii.push('v'),
            '✗' => ascii.push('x'),
            '⏳' => ascii.push_str(".."),
            '•' => ascii.push('*'),
            '→' => ascii.push('>'),
            '│' => ascii.push('|'),
            '─' | '—' | '–' => ascii.push('-'),
            '┼' => ascii.push('+'),
            '…' => ascii.push('~'),
            '▌' => ascii.push('_'),
            '‘' | '’' => ascii.push('\''),
            '“' | '”' => ascii.push('"'),
            character => ascii.extend(std::iter::repeat_n('?', character.width().unwrap_or(0))),
        }
    }
    ascii
}

/// Returns whether a locale, as `LC_ALL`, `LC_CTYPE` or `LANG` name it, can show only ASCII. A
/// locale without a character set is taken for UTF-8, as terminals are today.
pub fn is_ascii_locale(locale: &str) -> bool {
    let charset = locale.split_once('.').map(|(_, charset)| charset);
    match charset.map(str::to_ascii_lowercase) {
        Some(charset) => !charset.starts_with("utf-8") && !charset.starts_with("utf8"),
        None => matches!(locale, "C" | "POSIX"),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn every_character_keeps_its_width() {
        let line = "⏳ review • bash → ls … │ ─┼─ ✓ ✗ “日本” é▌";
        let mut output = AsciiOutput::new(Vec::new());
        output.write_all(line.as_bytes()).unwrap();
        let ascii = String::from_utf8(output.0).unwrap();
        assert_eq!(ascii, ".. review * bash > ls ~ | -+- v x \"????\" ?_");
        assert_eq!(ascii.len(), line.width());
    }

    #[test]
    fn only_a_locale_that_says_so_is_ascii() {
        let ascii = ["C", "POSIX", "de_DE.ISO-8859-1", "C.US-ASCII"];
        assert!(ascii.into_iter().all(is_ascii_locale));
        let utf8 = ["", "C.UTF-8", "de_DE.utf8", "en_US"];
        assert!(!utf8.into_iter().any(is_ascii_locale));
    }
}
