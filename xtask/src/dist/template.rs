//! Fills the templates of `packaging/`: `{{version}}` becomes the version.

use std::fs;

use crate::Outcome;
use crate::machine::root;

/// The values that templates name.
pub(super) type Values = Vec<(&'static str, String)>;

/// Reads a template of `packaging/` and fills it.
pub(super) fn filled(path: &str, values: &Values) -> Outcome<String> {
    let text = fs::read_to_string(root().join("packaging").join(path))
        .map_err(|error| format!("packaging/{path}: {error}"))?;
    fill(&text, values).map_err(|error| format!("packaging/{path}: {error}").into())
}

/// Replaces every name in double braces by its value.
fn fill(text: &str, values: &Values) -> Outcome<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or("{{ without }}")?;
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.ok_or_else(|| format!("there is no value {name}"))?;
        filled += before;
        filled += value;
        rest = after;
    }
    filled += rest;
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_values_and_an_unknown_name_is_an_error() {
        let values = vec![("version", "1.2.3".to_owned())];
        assert_eq!(fill("v{{version}}, #{x}", &values).unwrap(), "v1.2.3, #{x}");
        let error = fill("{{versoin}}", &values).unwrap_err();
        assert_eq!(error.to_string(), "there is no value versoin");
        assert!(fill("{{version", &values).is_err());
    }
}
