//! The headers of a piece of a record: the file, the place in it, and whether it is the whole file.

use std::num::ParseIntError;

use async_nats::HeaderMap;

/// Where the bytes of a message belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHeaders {
    /// The name of the file in the run directory.
    pub file: String,
    /// The offset of the first byte.
    pub at: u64,
    /// Whether the bytes replace the file.
    pub is_whole: bool,
}

/// Headers that do not say where the bytes belong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeaders {
    /// A header is missing.
    #[error("a piece of a record lacks its header \"{0}\"")]
    Missing(&'static str),
    /// The offset is no number.
    #[error("a piece of a record has an offset that is no number: {0}")]
    Offset(#[from] ParseIntError),
}

const FILE: &str = "File";
const AT: &str = "At";
const WHOLE: &str = "Whole";

impl RecordHeaders {
    /// Returns the headers of a message.
    pub fn to_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(FILE, self.file.as_str());
        headers.insert(AT, self.at.to_string());
        if self.is_whole {
            headers.insert(WHOLE, "1");
        }
        headers
    }

    /// Reads the headers of a message.
    pub fn of(headers: &HeaderMap) -> Result<Self, BadHeaders> {
        let file = headers.get(FILE).ok_or(BadHeaders::Missing(FILE))?;
        let at = headers.get(AT).ok_or(BadHeaders::Missing(AT))?;
        Ok(Self {
            file: file.as_str().to_owned(),
            at: at.as_str().parse()?,
            is_whole: headers.get(WHOLE).is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        for is_whole in [false, true] {
            let file = "events.jsonl".to_owned();
            let headers = RecordHeaders {
                file,
                at: 7,
                is_whole,
            };
            assert_eq!(RecordHeaders::of(&headers.to_headers()), Ok(headers));
        }
        let none = RecordHeaders::of(&HeaderMap::new());
        assert_eq!(none, Err(BadHeaders::Missing("File")));
    }
}
