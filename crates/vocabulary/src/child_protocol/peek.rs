//! Finds the kind of a line from its first bytes.

/// The kind of a line, judged by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peeked {
    /// An update of a message that is being written: skipped unless somebody reads along.
    MessageDelta,
    /// An update of a tool's output: skipped too, but it shows that the tool is at work.
    ToolDelta,
    /// A record that repeats other records: always skipped.
    Repetition,
    /// Anything else: held and decoded.
    Worth,
    /// There are too few bytes to know.
    Undecided,
}

const OPENING: &[u8] = br#"{"type":""#;

/// The length of the longest type we look for. A line with a longer type is never skipped.
const LONGEST_TYPE: usize = 32;

/// Looks at the first bytes of a line; `line` may be just its beginning.
pub fn peek(line: &[u8]) -> Peeked {
    let compared = line.len().min(OPENING.len());
    if line[..compared] != OPENING[..compared] {
        return Peeked::Worth;
    }
    let word = &line[compared..];
    let Some(end) = word
        .iter()
        .take(LONGEST_TYPE)
        .position(|byte| *byte == b'"')
    else {
        return if word.len() < LONGEST_TYPE {
            Peeked::Undecided
        } else {
            Peeked::Worth
        };
    };
    match &word[..end] {
        b"message_update" => Peeked::MessageDelta,
        b"tool_execution_update" | b"bash_execution_update" => Peeked::ToolDelta,
        b"message_start" | b"turn_end" | b"agent_end" => Peeked::Repetition,
        _ => Peeked::Worth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_what_a_line_is() {
        for (line, expected) in [
            (r#"{"type":"message_update","usage":"#, Peeked::MessageDelta),
            (r#"{"type":"tool_execution_update""#, Peeked::ToolDelta),
            (r#"{"type":"agent_end","messages":["#, Peeked::Repetition),
            (r#"{"type":"message_end","message":"#, Peeked::Worth),
            (r#"{"type":"message_upd"#, Peeked::Undecided),
            (r#"{"ty"#, Peeked::Undecided),
            ("", Peeked::Undecided),
            (r#"{ "type":"message_update"}"#, Peeked::Worth),
            ("plain text", Peeked::Worth),
            (
                r#"{"type":"a_type_that_is_longer_than_any_we_know"#,
                Peeked::Worth,
            ),
        ] {
            assert_eq!(peek(line.as_bytes()), expected, "{line}");
        }
    }
}
