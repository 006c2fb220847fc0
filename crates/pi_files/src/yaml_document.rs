//! A YAML file as JSON, for files that may be written either way.

use serde_json::{Map, Number};

use crate::problem::Problem;
use crate::yaml::{self, Value, YamlEntry};

/// Reads a YAML file that is a mapping. Its numbers and texts become those of JSON.
pub fn json_of_yaml(text: &str) -> Result<serde_json::Value, Problem> {
    let entries = yaml::parse(text).map_err(in_whole_file)?;
    Ok(mapping(&entries))
}

/// Corrects a problem of a whole file: its first line is not behind a fence.
fn in_whole_file(mut problem: Problem) -> Problem {
    if let Some(position) = &mut problem.position {
        position.line = position.line.saturating_sub(1).max(1);
    }
    problem.message = problem.message.replace("the frontmatter", "the file");
    problem
}

fn mapping(entries: &[YamlEntry]) -> serde_json::Value {
    let fields = entries
        .iter()
        .map(|entry| (entry.key.clone(), json(&entry.value.value)));
    fields.collect::<Map<_, _>>().into()
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        // A number that JSON cannot write, such as 0x10, stays the text that it is.
        Value::Number(written) => match written.parse::<Number>() {
            Ok(number) => number.into(),
            Err(_) => written.as_str().into(),
        },
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(|item| json(&item.value)).collect(),
        Value::Map(entries) => mapping(entries),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_means_what_the_same_json_means() {
        let text = "version: 1\ntasks:\n  - name: plan\n    prompt: |\n      List {{files}}.\n      Now.\n    timeout: 60.5\n  - {name: b, needs: [plan], wrapUp: false, gate: null}\n";
        let expected = json!({"version": 1, "tasks": [
            {"name": "plan", "prompt": "List {{files}}.\nNow.\n", "timeout": 60.5},
            {"name": "b", "needs": ["plan"], "wrapUp": false, "gate": null},
        ]});
        assert_eq!(json_of_yaml(text).unwrap(), expected);
        let problem = json_of_yaml("tasks: []\ntasks: []").unwrap_err();
        let place = problem.place("tasks.yaml".as_ref());
        assert_eq!(
            (place.as_str(), problem.message.as_str()),
            ("tasks.yaml:2:1", "the key \"tasks\" is there twice")
        );
        let problem = json_of_yaml("- a").unwrap_err();
        assert_eq!(
            problem.message,
            "the file must be lines of \"key: value\", not a list"
        );
    }
}
