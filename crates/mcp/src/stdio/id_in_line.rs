//! Finds the id of a request in a line that is too long to be read: the value of `id` in the
//! outermost object. Nothing of the line is held but that.

use serde_json::Value;

/// No id is longer than this, in bytes.
const LONGEST_ID: usize = 256;

/// Reads a line piece by piece.
#[derive(Default)]
pub(super) struct IdInLine {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// The bytes at the outermost level since the last comma or colon.
    word: Vec<u8>,
    /// True if the word is the value of `id`.
    is_id: bool,
    found: Option<Value>,
}

impl IdInLine {
    pub(super) fn feed(&mut self, piece: &[u8]) {
        for byte in piece {
            self.take(*byte);
        }
    }

    /// Returns the id, if the line had one.
    pub(super) fn found(self) -> Option<Value> {
        self.found
    }

    fn take(&mut self, byte: u8) {
        if self.is_text {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.is_text = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_word();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_word(),
            b':' if self.depth == 1 => {
                self.is_id = self.word == b"\"id\"";
                self.word.clear();
            }
            b' ' | b'\t' | b'\r' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() < LONGEST_ID {
            self.word.push(byte);
        }
    }

    /// Takes a finished word as the id if it is in the place of the id. A word that was cut is no
    /// JSON, and so no id.
    fn end_word(&mut self) {
        if self.depth == 1 {
            if self.is_id && self.found.is_none() {
                self.found = serde_json::from_slice(&self.word).ok();
            }
            self.is_id = false;
            self.word.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id_in(line: &str) -> Option<Value> {
        let mut id = IdInLine::default();
        for piece in line.as_bytes().chunks(3) {
            id.feed(piece);
        }
        id.found()
    }

    #[test]
    fn the_id_of_the_outermost_object_is_found_wherever_it_stands() {
        let found = [
            r#"{"jsonrpc": "2.0", "id": 7, "method": "x"}"#,
            r#"{"params": {"id": 1, "a": [{"id": 2}, "\"id\": 3"]}, "id": "se\"ven"}"#,
            r#"{"id":-1,"id":2}"#,
            r#"{"params": {"id": 1}}"#,
            r#"["id", 7]"#,
            r#"{"id": {"no": "id"}}"#,
            r#"{"id": 7"#,
        ]
        .map(id_in);
        let expected = [
            Some(json!(7)),
            Some(json!("se\"ven")),
            Some(json!(-1)),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(found, expected);
        assert_eq!(id_in(&format!(r#"{{"id": "{}"}}"#, "x".repeat(300))), None);
    }
}
