//! The table from the keys of a frontmatter to the fields of a definition.

use pi_subagents_vocabulary::{Dialect, Field, nearest};

/// Names that a field has besides the one of its dialect.
const ALSO: &[(&str, Field)] = &[("allowed_tools", Field::Tools)];

/// Returns the field a key stands for, with the key as a constant.
pub(crate) fn field_of(key: &str) -> Option<(Field, &'static str)> {
    all()
        .find(|(known, _)| *known == key)
        .map(|(known, field)| (field, known))
}

/// Returns the known key that was probably meant.
pub(super) fn meant_by(key: &str) -> Option<&'static str> {
    nearest(key, all().map(|(known, _)| known))
}

fn all() -> impl Iterator<Item = (&'static str, Field)> {
    let written = Field::ALL.into_iter().filter(|field| *field != Field::Body);
    written
        .flat_map(|field| {
            [Dialect::Profile, Dialect::Prompt].map(|dialect| (field.key(dialect), field))
        })
        .chain(ALSO.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_key_is_known_and_the_body_is_none() {
        assert_eq!(
            field_of("thinkingLevel"),
            Some((Field::Thinking, "thinkingLevel"))
        );
        assert_eq!(
            field_of("allowed_tools"),
            Some((Field::Tools, "allowed_tools"))
        );
        assert_eq!(
            field_of("denied_tools"),
            Some((Field::ExcludeTools, "denied_tools"))
        );
        assert_eq!(field_of("body"), None);
        assert_eq!(field_of("toString"), None);
    }

    #[test]
    fn a_misspelt_key_is_guessed() {
        let guesses = ["notools", "no_tools", "thinking", "Model", "zzz"].map(meant_by);
        assert_eq!(
            guesses,
            [
                Some("noTools"),
                Some("noTools"),
                Some("thinkingLevel"),
                Some("model"),
                None
            ]
        );
    }
}
