//! Long texts, cut into pieces that are rendered one by one.

/// The length of the longest piece. The work for one piece may grow with the square of its size.
const LONGEST_PIECE: usize = 64 << 10;

/// Splits a text that is too long for one piece: at its last empty line, else at the end of a line,
/// else between two characters.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(piece_length(rest));
        rest = behind;
        Some(piece)
    })
}

fn piece_length(text: &str) -> usize {
    if text.len() <= LONGEST_PIECE {
        return text.len();
    }
    let window = &text[..text.floor_char_boundary(LONGEST_PIECE)];
    let break_at = window.rfind("\n\n").map(|place| place + 2);
    let line_end = || window.rfind('\n').map(|place| place + 1);
    break_at.or_else(line_end).unwrap_or(window.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_split_between_paragraphs_and_nothing_is_lost() {
        let paragraph = format!("{}\n\n", "word ".repeat(2_000));
        let text = paragraph.repeat(20);
        let parts: Vec<&str> = pieces(&text).collect();
        assert_eq!(parts.concat(), text);
        assert!(parts.iter().all(|part| part.ends_with("\n\n")));
        assert!(parts.iter().all(|part| part.len() <= LONGEST_PIECE));
        let one_line = "é".repeat(LONGEST_PIECE);
        assert_eq!(pieces(&one_line).count(), 2);
        assert_eq!(pieces("").count(), 0);
    }
}
