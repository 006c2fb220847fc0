//! Makes strict JSON of JSON with comments, and keeps every character where it is, so that errors
//! name the right place.

/// Blanks out comments, and commas before a closing bracket.
pub(super) fn strict(text: &str) -> String {
    without_commas(&without_comments(text))
}

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            let length = string_length(rest);
            plain.push_str(&rest[..length]);
            length
        } else if let Some(length) = comment_length(rest) {
            plain.extend(rest[..length].chars().map(blank));
            length
        } else {
            plain.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    plain
}

fn without_commas(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            string_length(rest)
        } else {
            first.len_utf8()
        };
        let is_last = first == ',' && rest[1..].trim_start().starts_with(['}', ']']);
        plain.push_str(if is_last { " " } else { &rest[..length] });
        rest = &rest[length..];
    }
    plain
}

fn blank(character: char) -> char {
    if character == '\n' { '\n' } else { ' ' }
}

/// Returns how many bytes the string at the beginning of a text takes, its quotes included.
pub(super) fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
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
