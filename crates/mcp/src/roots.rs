//! The directories a client works in.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde_json::Value;

/// Returns the directories in a client's answer to `roots/list`.
pub(crate) fn directories(told: &Value) -> Vec<PathBuf> {
    let roots = told["roots"].as_array();
    let uris = roots
        .into_iter()
        .flatten()
        .filter_map(|root| root["uri"].as_str());
    uris.filter_map(path_of).collect()
}

/// Returns the path in a `file` URI of this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then(|| decoded(path))
}

fn decoded(path: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hexadecimal(*high).zip(hexadecimal(*low)),
            _ => None,
        };
        let (byte, length) = match escaped {
            Some((high, low)) => (high << 4 | low, "%00".len()),
            None => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    OsString::from_vec(bytes).into()
}

fn hexadecimal(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn directories_of_this_machine_are_understood() {
        let told = json!({"roots": [
            {"uri": "file:///home/ann/code", "name": "code"},
            {"uri": "file://localhost/home/ann/a%20b%C3%A9%2"},
            {"uri": "file://elsewhere/share"},
            {"uri": "https://example.org/"},
            {"name": "nothing"},
        ]});
        let expected = ["/home/ann/code", "/home/ann/a bé%2"].map(PathBuf::from);
        assert_eq!(directories(&told), expected);
        assert_eq!(directories(&json!({"roots": 3})), Vec::<PathBuf>::new());
        assert_eq!(directories(&json!(null)), Vec::<PathBuf>::new());
    }
}
