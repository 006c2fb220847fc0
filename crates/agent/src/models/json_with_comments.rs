//! JSON as people write it: comments and a byte order mark are allowed.

use serde::de::DeserializeOwned;

/// Parses JSON in which `//` and `/* */` comments may stand.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(&without_comments(
        text.strip_prefix('\u{feff}').unwrap_or(text),
    ))
}

/// Blanks comments out and keeps every line where it is, so that errors name the right one.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            let length = string_length(rest);
            plain.push_str(&rest[..length]);
            length
        } else if let Some(length) = comment_length(rest) {
            plain.extend(rest[..length].chars().filter(|one| *one == '\n'));
            length
        } else {
            plain.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    plain
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        Some(text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        Some(text.find("*/").map_or(text.len(), |end| end + 2))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn comments_and_a_bom_are_passed_over_but_not_inside_strings() {
        let text =
            "\u{feff}// first\n{\"url\": \"http://x/*y*/\", /* two\nlines */ \"q\": \"\\\"//\"}";
        assert_eq!(
            super::parse::<Value>(text).unwrap(),
            json!({"url": "http://x/*y*/", "q": "\"//"})
        );
    }
}
