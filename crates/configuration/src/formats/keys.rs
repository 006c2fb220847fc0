//! The table from the keys of a frontmatter to the fields of a definition.

use pi_subagents_vocabulary::{Dialect, Field, nearest};

/// Returns the field a key stands for, with the key as a constant.
pub(crate) fn field_of(key: &str) -> Option<(Field, &'static str)> {
    let found = all().find(|known| known.key == key);
    found.map(|known| (known.field, known.key))
}

/// Returns the dialect that a key shows its file to have, if only one dialect has the key.
pub(super) fn dialect_of(key: &str) -> Option<Dialect> {
    all().find(|known| known.key == key)?.shows
}

/// Returns the known key that was probably meant, with its field.
pub(super) fn meant_by(key: &str) -> Option<(Field, &'static str)> {
    field_of(nearest(key, all().map(|known| known.key))?)
}

struct KnownKey {
    key: &'static str,
    field: Field,
    shows: Option<Dialect>,
}

fn all() -> impl Iterator<Item = KnownKey> {
    Field::of_frontmatter().flat_map(|field| {
        let row = field.row();
        let keys: Vec<KnownKey> = row
            .keys()
            .map(|(key, shows)| KnownKey { key, field, shows })
            .collect();
        keys
    })
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
        let guesses = ["notools", "no_tools", "thinking", "Model", "zzz"]
            .map(|key| meant_by(key).map(|(_, meant)| meant));
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
