//! Numbered words, by which the output of a child and the content of a record can be compared.

use std::collections::BTreeSet;

/// The beginning of every word.
const BEGINNING: &str = "word-";

/// Returns the word of a child with this number.
pub(crate) fn word(child: usize, number: u64) -> String {
    format!("{BEGINNING}{child}-{number:03};")
}

/// Returns all words in a text.
pub(crate) fn words_in(text: &str) -> BTreeSet<String> {
    text.match_indices(BEGINNING)
        .filter_map(|(at, _)| {
            let rest = &text[at..];
            let end = rest.find(';')?;
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
            rest[..end]
                .chars()
                .all(is_word)
                .then(|| rest[..=end].to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_text_and_nothing_else_is() {
        let text = format!(
            "so {} and{} word-, word-1-2 {{}};",
            word(0, 1),
            word(12, 345)
        );
        let found: Vec<String> = words_in(&text).into_iter().collect();
        assert_eq!(found, ["word-0-001;", "word-12-345;"]);
    }
}
