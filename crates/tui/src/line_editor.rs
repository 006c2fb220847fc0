//! One line that a person types: characters as they are seen, a cursor, pasted text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_vocabulary::text;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The sign for a line break that was pasted.
const LINE_BREAK: &str = "⏎";

/// A longer text is not for a line.
const LONGEST: usize = 64 << 10;

/// The text that was typed so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LineEditor {
    /// The characters as they are seen, each of one or more code points.
    characters: Vec<String>,
    /// The number of characters before the cursor.
    cursor: usize,
}

/// The part of a line that is seen, and the column of the cursor in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenLine {
    pub(crate) text: String,
    pub(crate) cursor: usize,
}

impl LineEditor {
    pub(crate) fn text(&self) -> String {
        self.characters.concat()
    }

    /// Puts a text at the cursor. Characters that could command a terminal are taken out of it.
    pub(crate) fn insert(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.text().len());
        let clean = text::clean(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let before = self.characters[..self.cursor].concat();
        let behind = self.characters[self.cursor..].concat();
        let before = before + &clean[..clean.floor_char_boundary(room)];
        // A combining mark that was typed belongs to the character before it.
        self.cursor = before.graphemes(true).count();
        self.characters = (before + &behind)
            .graphemes(true)
            .map(str::to_owned)
            .collect();
    }

    /// Takes a key; false if it means nothing here.
    pub(crate) fn press(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if is_control => self.cursor = 0,
            KeyCode::Char('e') if is_control => self.cursor = self.characters.len(),
            KeyCode::Char('u') if is_control => self.remove(0..self.cursor),
            KeyCode::Char('k') if is_control => self.remove(self.cursor..self.characters.len()),
            KeyCode::Char('w') if is_control => self.remove(self.word_start()..self.cursor),
            KeyCode::Char('b') if is_control => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Char('f') if is_control => self.right(),
            KeyCode::Char(_) if is_control => return false,
            KeyCode::Char(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.remove(self.cursor.saturating_sub(1)..self.cursor),
            KeyCode::Delete => self.remove(self.cursor..self.cursor + 1),
            KeyCode::Left if is_control => self.cursor = self.word_start(),
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.right(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.characters.len(),
            _ => return false,
        }
        true
    }

    /// Returns the part that is shown in this number of columns; the cursor is always in it.
    pub(crate) fn seen(&self, columns: usize) -> SeenLine {
        let width = |character: &String| shown(character).width();
        let mut start = self.cursor;
        let mut cursor = 0;
        while start > 0 && cursor + width(&self.characters[start - 1]) < columns {
            start -= 1;
            cursor += width(&self.characters[start]);
        }
        let mut used = 0;
        let text = self.characters[start..]
            .iter()
            .take_while(|character| {
                used += width(character);
                used <= columns
            })
            .map(|character| shown(character))
            .collect();
        SeenLine { text, cursor }
    }

    fn right(&mut self) {
        self.cursor = (self.cursor + 1).min(self.characters.len());
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        let end = range.end.min(self.characters.len());
        let start = range.start.min(end);
        self.characters.drain(start..end);
        self.cursor = self.cursor.min(start);
    }

    /// Returns where the word before the cursor begins.
    fn word_start(&self) -> usize {
        let before = &self.characters[..self.cursor];
        let is_space = |character: &String| character.trim().is_empty();
        let end = before.iter().rposition(|one| !is_space(one));
        let end = end.map_or(0, |place| place + 1);
        before[..end]
            .iter()
            .rposition(is_space)
            .map_or(0, |place| place + 1)
    }
}

fn shown(character: &str) -> &str {
    if character == "\n" {
        LINE_BREAK
    } else {
        character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> LineEditor {
        let mut editor = LineEditor::default();
        for character in text.chars() {
            let key = KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE);
            assert!(editor.press(key));
        }
        editor
    }

    fn press(editor: &mut LineEditor, keys: &[(KeyCode, KeyModifiers)]) {
        for (code, modifiers) in keys {
            assert!(editor.press(KeyEvent::new(*code, *modifiers)), "{code:?}");
        }
    }

    #[test]
    fn characters_are_what_a_person_sees() {
        let mut editor = typed("e\u{301}👩‍👩‍👧日x");
        assert_eq!(editor.seen(80).cursor, 1 + 2 + 2 + 1);
        press(
            &mut editor,
            &[
                (KeyCode::Left, KeyModifiers::NONE),
                (KeyCode::Backspace, KeyModifiers::NONE),
                (KeyCode::Backspace, KeyModifiers::NONE),
            ],
        );
        assert_eq!(editor.text(), "e\u{301}x");
        press(&mut editor, &[(KeyCode::Delete, KeyModifiers::NONE)]);
        press(&mut editor, &[(KeyCode::Delete, KeyModifiers::NONE)]);
        assert_eq!(editor.text(), "e\u{301}");
    }

    #[test]
    fn words_go_as_in_a_shell() {
        let mut editor = typed("look at the tests  ");
        press(&mut editor, &[(KeyCode::Char('w'), KeyModifiers::CONTROL)]);
        assert_eq!(editor.text(), "look at the ");
        press(
            &mut editor,
            &[
                (KeyCode::Char('a'), KeyModifiers::CONTROL),
                (KeyCode::Right, KeyModifiers::NONE),
                (KeyCode::Char('k'), KeyModifiers::CONTROL),
            ],
        );
        assert_eq!(editor.text(), "l");
        press(&mut editor, &[(KeyCode::Char('u'), KeyModifiers::CONTROL)]);
        assert_eq!(editor, LineEditor::default());
        assert!(!editor.press(KeyEvent::new(KeyCode::F(1), KeyModifiers::NONE)));
    }

    #[test]
    fn what_is_pasted_keeps_its_lines_and_commands_nothing() {
        let mut editor = typed("ab");
        press(&mut editor, &[(KeyCode::Left, KeyModifiers::NONE)]);
        editor.insert("1\r\n2\u{1b}[2J\u{7}\r3");
        assert_eq!(editor.text(), "a1\n2\n3b");
        assert_eq!(
            editor.seen(80),
            SeenLine {
                text: "a1⏎2⏎3b".to_owned(),
                cursor: 6
            }
        );
        editor.insert(&"x".repeat(2 * LONGEST));
        assert_eq!(editor.text().len(), LONGEST);
    }

    #[test]
    fn the_cursor_is_always_seen() {
        let editor = typed("日本語 and more");
        let seen: Vec<(String, usize)> = [20, 8, 1, 0]
            .map(|columns| editor.seen(columns))
            .map(|seen| (seen.text, seen.cursor))
            .into();
        let expected = [("日本語 and more", 15), ("nd more", 7), ("", 0), ("", 0)];
        assert_eq!(
            seen,
            expected.map(|(text, cursor)| (text.to_owned(), cursor))
        );
    }
}
