//! Halves of surrogate pairs: Node writes them where a text was cut in the middle of a character,
//! and no Rust string can hold them.

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// Puts U+FFFD in the place of each escaped half that has no partner; `None` if there is no such
/// half.
pub(super) fn replace_lone(line: &str) -> Option<String> {
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = next_escape(line, at) {
        at = found
            + match (half(line, found), half(line, found + ESCAPE)) {
                (None, _) => 2,
                (Some(Half::High), Some(Half::Low)) => 2 * ESCAPE,
                (Some(_), _) => {
                    mended.push_str(&line[kept..found]);
                    mended.push_str("\\ufffd");
                    kept = found + ESCAPE;
                    ESCAPE
                }
            };
    }
    if kept == 0 {
        return None;
    }
    mended.push_str(&line[kept..]);
    Some(mended)
}

fn next_escape(line: &str, from: usize) -> Option<usize> {
    let rest = line.as_bytes().get(from..)?;
    Some(from + rest.iter().position(|byte| *byte == b'\\')?)
}

enum Half {
    High,
    Low,
}

/// Reads the half of a pair whose escape begins here; `None` if no escape begins here.
fn half(line: &str, at: usize) -> Option<Half> {
    let digits = line.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_that_stand_alone_are_replaced() {
        for (line, expected) in [
            (r#"{"text":"plain \n \ud83d\ude00"}"#, None),
            (r#""cut \ud83d""#, Some(r#""cut \ufffd""#)),
            (
                r#""\ude00 \ud83d\ud83d\ude00""#,
                Some(r#""\ufffd \ufffd\ud83d\ude00""#),
            ),
            (r#""\\ud83d""#, None),
            (r"\", None),
            ("\\é", None),
        ] {
            assert_eq!(replace_lone(line).as_deref(), expected, "{line}");
        }
    }
}
