//! A definition → the changes of the file it came from.

use std::str::FromStr as _;

use pi_subagents_pi_files::{Problem, markdown};
use pi_subagents_vocabulary::{Definition, Field};
use serde_json::Value;
use yaml_edit::{Document, Mapping, ScalarValue, YamlValue};

use super::compose::{Written, with_commas, written};

/// Returns the text of the old file with the fields of the new definition.
pub(super) fn file(text: &str, old: &Definition, new: &Definition) -> Result<String, Problem> {
    let mark = if text.starts_with('\u{feff}') {
        "\u{feff}"
    } else {
        ""
    };
    let has_crlf = text.contains("---\r\n");
    let plain = text.replace("\r\n", "\n");
    let parts = markdown::split(&plain)?;
    let frontmatter = changed_frontmatter(parts.frontmatter, old, new)?;
    let body = if old.body == new.body {
        parts.body.to_owned()
    } else {
        new.body
            .as_ref()
            .map_or(String::new(), |body| format!("\n{body}\n"))
    };
    let whole = format!("---\n{frontmatter}---\n{body}");
    let whole = if has_crlf {
        whole.replace('\n', "\r\n")
    } else {
        whole
    };
    Ok(format!("{mark}{whole}"))
}

fn changed_frontmatter(text: &str, old: &Definition, new: &Definition) -> Result<String, Problem> {
    let document =
        Document::from_str(text).map_err(|error| Problem::new(format!("is not YAML: {error}")))?;
    let mapping = document
        .as_mapping()
        .ok_or_else(|| Problem::new("the frontmatter must be lines of \"key: value\""))?;
    for field in Field::of_frontmatter() {
        let (before, after) = (written(old, field), written(new, field));
        if before == after {
            continue;
        }
        let key = old.key(field);
        match after {
            None => drop(mapping.remove(key)),
            Some(value) => set(&mapping, key, value),
        }
    }
    let mut text = document.to_string();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Sets a value. Names that are written as a list stay a list, and names with commas stay so.
fn set(mapping: &Mapping, key: &'static str, value: Written) {
    match value {
        Written::Text(text) => mapping.set(key, text.as_str()),
        Written::Switch(is_on) => mapping.set(key, is_on),
        Written::Number(number) => mapping.set(key, number),
        Written::Fraction(number) => mapping.set(key, number),
        Written::Names(names) => {
            let was_list = mapping.get_sequence(key).is_some();
            match with_commas(&names).filter(|_| !was_list) {
                Some(text) => mapping.set(key, text.as_str()),
                None => mapping.set(key, list(&names)),
            }
        }
        Written::List(words) => mapping.set(key, list(&words)),
        Written::Json(value) => mapping.set(key, yaml(&value)),
    }
}

fn list(words: &[String]) -> Vec<YamlValue> {
    let words = words.iter();
    words.map(|word| YamlValue::from(word.as_str())).collect()
}

fn yaml(value: &Value) -> YamlValue {
    match value {
        Value::Null => YamlValue::Scalar(ScalarValue::null()),
        Value::Bool(value) => YamlValue::from(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => YamlValue::from(number),
            None => YamlValue::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => YamlValue::from(text.as_str()),
        Value::Array(list) => YamlValue::Sequence(list.iter().map(yaml).collect()),
        Value::Object(fields) => YamlValue::Mapping(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), yaml(value)))
                .collect(),
        ),
    }
}
