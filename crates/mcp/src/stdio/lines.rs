//! Cuts the input of a client into lines, none of which takes more than a bounded place.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

use super::id_in_line::IdInLine;

/// The length of the longest line. The library has the same bound for requests over HTTP.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// One line of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// More than [`LONGEST`] bytes; holds the id of the request in it, if it has one.
    TooLong(Option<Value>),
}

/// The lines of a reader.
pub(super) struct Lines<R> {
    reader: R,
    longest: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            longest: LONGEST,
        }
    }

    /// Returns the next line without its end; `None` at the end of the input. Text behind the last
    /// newline is dropped, because it was not sent to its end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut too_long: Option<IdInLine> = None;
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let (piece, used) = match end {
                Some(end) => (&available[..end], end + 1),
                None => (available, available.len()),
            };
            match &mut too_long {
                Some(id) => id.feed(piece),
                None if line.len() + piece.len() > self.longest => {
                    let mut id = IdInLine::default();
                    id.feed(&line);
                    id.feed(piece);
                    line = Vec::new();
                    too_long = Some(id);
                }
                None => line.extend_from_slice(piece),
            }
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(match too_long {
                    Some(id) => Line::TooLong(id.found()),
                    None => Line::Whole(line),
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::BufReader;

    use super::*;

    async fn lines(text: &str, longest: usize) -> Vec<Line> {
        let reader = BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Lines { reader, longest };
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(line);
        }
        found
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_with_its_id() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        let text =
            "short\n{\"method\": \"m\", \"params\": {\"id\": 1}, \"id\": 77}\n\nnext\nno end";
        assert_eq!(
            lines(text, 20).await,
            [
                whole("short"),
                Line::TooLong(Some(json!(77))),
                whole(""),
                whole("next")
            ]
        );
        assert_eq!(lines("exactly\n", 7).await, [whole("exactly")]);
        assert_eq!(lines("exactly\n", 6).await, [Line::TooLong(None)]);
    }
}
