//! The clipboard of the person's terminal, reached with the escape sequence OSC 52. It also works
//! over ssh; a terminal that does not know it ignores it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pi_subagents_view::Role;
use pi_subagents_vocabulary::text;

use super::message::Notice;

/// Many terminals take no more than 100,000 characters, which are as many bytes of text.
pub(crate) const LONGEST_COPY: usize = 74_994;

/// Returns the sequence that puts a text on the clipboard. Nothing in the text can command the
/// terminal: it is encoded, and cleaned so that pasting it commands nothing either.
pub(crate) fn copy_sequence(words: &str) -> String {
    let encoded = STANDARD.encode(text::clean(words));
    format!("\u{1b}]52;c;{encoded}\u{7}")
}

/// Returns the notice about the copied text.
pub(crate) fn copied(what: &str) -> Notice {
    Notice::new(Role::Success, format!("Copied {what} to the clipboard."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_encoded_without_what_could_command_a_terminal() {
        assert_eq!(copy_sequence("日本\n"), "\u{1b}]52;c;5pel5pysCg==\u{7}");
        assert_eq!(copy_sequence("a\u{1b}[2Jb\u{7}"), "\u{1b}]52;c;YWI=\u{7}");
        let longest = copy_sequence(&"x".repeat(LONGEST_COPY));
        assert!(longest.len() <= 100_000 + 8, "{}", longest.len());
    }
}
