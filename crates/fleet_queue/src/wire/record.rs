//! The headers of a piece of a record: the file and the place in it.

use std::num::ParseIntError;

use async_nats::HeaderMap;

/// The place of a message's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHeaders {
    /// The name of the file in the run directory.
    pub file: String,
    /// The offset of the first byte.
    pub at: u64,
}

/// Headers that do not name the place of the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeaders {
    /// A header is missing.
    #[error("a piece of a record lacks its header \"{0}\"")]
    Missing(&'static str),
    /// The offset is no number.
    #[error("a piece of a record has an offset that is not a number: {0}")]
    Offset(#[from] ParseIntError),
}

const FILE: &str = "File";
const AT: &str = "At";

impl RecordHeaders {
    /// Returns the headers of a message.
    pub fn to_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(FILE, self.file.as_str());
        headers.insert(AT, self.at.to_string());
        headers
    }

    /// Reads the headers of a message.
    pub fn of(headers: &HeaderMap) -> Result<Self, BadHeaders> {
        let file = headers.get(FILE).ok_or(BadHeaders::Missing(FILE))?;
        let at = headers.get(AT).ok_or(BadHeaders::Missing(AT))?;
        Ok(Self {
            file: file.as_str().to_owned(),
            at: at.as_str().parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        let file = "events.jsonl".to_owned();
        let headers = RecordHeaders { file, at: 7 };
        assert_eq!(RecordHeaders::of(&headers.to_headers()), Ok(headers));
        let none = RecordHeaders::of(&HeaderMap::new());
        assert_eq!(none, Err(BadHeaders::Missing("File")));
    }
}
