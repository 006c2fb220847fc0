//! `--unset`: finds the fields to take away, which are named as their flags or as their keys.

use pi_subagents_vocabulary::Field;

/// Finds a field by the name of its flag or by its key in any dialect.
pub(super) fn field(word: &str) -> Result<Field, String> {
    let wanted = plain(word);
    let found = removable().find(|field| {
        let row = field.row();
        let keys = row.keys().map(|(key, _)| key);
        keys.chain([row.flag]).any(|known| plain(known) == wanted)
    });
    found.ok_or_else(|| {
        let flags: Vec<&str> = removable().map(|field| field.row().flag).collect();
        format!("a field is one of {}", flags.join(", "))
    })
}

/// Returns all fields but the name, which every definition has.
fn removable() -> impl Iterator<Item = Field> {
    Field::of_file().filter(|field| *field != Field::Name)
}

fn plain(word: &str) -> String {
    let kept = word.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|character| character.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_known_by_its_flag_and_by_its_keys() {
        let found = [
            "exclude-tools",
            "excludeTools",
            "denied_tools",
            "thinkingLevel",
            "systemPrompt",
            "body",
        ];
        let expected = [
            Field::ExcludeTools,
            Field::ExcludeTools,
            Field::ExcludeTools,
            Field::Thinking,
            Field::Body,
            Field::Body,
        ];
        assert_eq!(found.map(|word| field(word).unwrap()), expected);
        assert!(field("name").is_err());
    }

    #[test]
    fn every_field_but_the_name_can_be_named_by_its_flag() {
        for one in removable() {
            assert_eq!(field(one.row().flag), Ok(one));
        }
    }
}
