//! The list of a task that is done for each of its items.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The largest number of items of one map.
pub const MOST_ITEMS: usize = 1000;

/// The source of the items of a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ForEach {
    /// The items themselves.
    Items(Vec<Value>),
    /// The files that a pattern names, without those that git ignores.
    Files(String),
    /// The lines of a file.
    Lines(PathBuf),
    /// A list in the result of a task, as a placeholder names it.
    Result(String),
}

/// Returns the name of the run for an item of a map; items are counted from 0 here and from 1 in
/// the name.
pub fn item_name(task: &str, item: usize) -> String {
    format!("{task}[{}]", item + 1)
}

impl TryFrom<Value> for ForEach {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let unfit = || {
            "must be a list, {\"files\": \"src/**/*.rs\"}, {\"lines\": \"list.txt\"} or a placeholder such as \"{{plan.structured.files}}\""
                .to_owned()
        };
        match value {
            Value::Array(items) => Ok(Self::Items(items)),
            Value::Object(fields) => match (fields.len(), fields.get("files"), fields.get("lines"))
            {
                (1, Some(Value::String(pattern)), None) if !pattern.trim().is_empty() => {
                    Ok(Self::Files(pattern.clone()))
                }
                (1, None, Some(Value::String(file))) if !file.trim().is_empty() => {
                    Ok(Self::Lines(file.into()))
                }
                _ => Err(unfit()),
            },
            Value::String(text) => {
                let inside = text.trim().strip_prefix("{{");
                let inside = inside
                    .and_then(|text| text.strip_suffix("}}"))
                    .map(str::trim);
                if let Some(inside) = inside.filter(|text| !text.is_empty()) {
                    return Ok(Self::Result(inside.to_owned()));
                }
                // Some models write a list or an object as a text of JSON.
                match serde_json::from_str(&text) {
                    Ok(value @ (Value::Array(_) | Value::Object(_))) => Self::try_from(value),
                    Ok(_) | Err(_) => Err(unfit()),
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Err(unfit()),
        }
    }
}

impl From<ForEach> for Value {
    fn from(each: ForEach) -> Self {
        match each {
            ForEach::Items(items) => Self::Array(items),
            ForEach::Files(pattern) => json!({ "files": pattern }),
            ForEach::Lines(file) => json!({ "lines": file }),
            ForEach::Result(inside) => format!("{{{{{inside}}}}}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_list_is_written_in_four_ways() {
        for (written, expected) in [
            (json!(["a", 1]), ForEach::Items(vec![json!("a"), json!(1)])),
            (json!({"files": "*.rs"}), ForEach::Files("*.rs".to_owned())),
            (json!({"lines": "a.txt"}), ForEach::Lines("a.txt".into())),
            (
                json!("{{ plan.structured }}"),
                ForEach::Result("plan.structured".to_owned()),
            ),
            (json!("[1]"), ForEach::Items(vec![json!(1)])),
        ] {
            let read = ForEach::try_from(written).unwrap();
            assert_eq!(read, expected);
            assert_eq!(ForEach::try_from(Value::from(read)).unwrap(), expected);
        }
        for wrong in [
            json!("src"),
            json!({"files": ""}),
            json!({"files": "a", "lines": "b"}),
            json!({}),
            json!(7),
            json!("{{}}"),
        ] {
            assert!(ForEach::try_from(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
