//! Fields of a call that no tool knows. A model inside pi gets a warning about them; a person who
//! types a call or writes a client gets an error, because a misspelt field would be lost silently.

use pi_subagents_vocabulary::{nearest, text};
use serde_json::{Map, Value};

use super::arguments::CallError;
use super::{ToolSet, mcp_tools, tools};
use pi_subagents_vocabulary::Door;

/// The number of unknown fields that are named.
const NAMED: usize = 8;

/// Fields of other tools. The tools that lack them refuse them with a sentence of their own.
const REFUSED_ELSEWHERE: [&str; 2] = ["chain", "tasks"];

/// A field that is not in the schema.
struct Unknown<'a> {
    /// The place of the field, such as `tasks[0].promt`.
    path: String,
    field: &'a str,
    known: Vec<&'a str>,
}

/// Looks for fields that the tool does not know: warnings where pi calls, else an error.
pub fn check_fields(tool: &str, arguments: &Value, door: Door) -> Result<Vec<String>, CallError> {
    let tools = match door {
        // A client may know a tool by either set.
        Door::Mcp => {
            let sets = [ToolSet::Compact, ToolSet::All].into_iter();
            sets.flat_map(mcp_tools).collect()
        }
        Door::CommandLine | Door::Pi | Door::PiCommand | Door::Attach | Door::Page => tools(),
    };
    let schemas = tools.iter().filter(|known| known.name == tool);
    let unknown = schemas.map(|tool| unknown_in(arguments, &tool.parameters));
    let Some(mut found) = unknown.min_by_key(Vec::len) else {
        return Ok(Vec::new());
    };
    found.truncate(NAMED);
    match (door, found.as_slice()) {
        (_, []) => Ok(Vec::new()),
        (Door::Pi | Door::PiCommand, found) => Ok(found.iter().map(Unknown::warning).collect()),
        (Door::CommandLine | Door::Mcp | Door::Attach | Door::Page, [first, ..]) => {
            Err(CallError(first.error()))
        }
    }
}

/// Returns arguments without the fields that models inside pi are told were ignored: other doors
/// know some of them.
pub(crate) fn without_unknown(tool: &str, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    if let Some(known) = tools().iter().find(|known| known.name == tool) {
        remove_unknown(&mut arguments, &known.parameters);
    }
    arguments
}

/// Returns the fields that a schema does not have.
fn unknown_in<'a>(arguments: &'a Value, schema: &'a Value) -> Vec<Unknown<'a>> {
    let mut found = Vec::new();
    look(arguments, schema, String::new(), &mut found);
    found
}

impl Unknown<'_> {
    fn warning(&self) -> String {
        format!("{} is unknown and was ignored{}", self.path, self.advice())
    }

    fn error(&self) -> String {
        format!("{} is unknown{}", self.path, self.advice())
    }

    fn advice(&self) -> String {
        let known = self.known.iter().copied();
        // A tool without `model` may have the `models` of attempts, which are something else.
        let known = known.filter(|known| (self.field, *known) != ("model", "models"));
        match nearest(self.field, known) {
            Some(meant) => format!("; did you mean {meant}?"),
            None if self.known.is_empty() => "; nothing is known here".to_owned(),
            None => format!("; known are {}", self.known.join(", ")),
        }
    }
}

fn look<'a>(value: &'a Value, schema: &'a Value, path: String, found: &mut Vec<Unknown<'a>>) {
    let schema = of_kind(value, schema);
    match (value, schema["properties"].as_object()) {
        (Value::Object(fields), Some(known)) => look_at_fields(fields, known, &path, found),
        (Value::Array(values), _) => {
            for (index, value) in values.iter().enumerate() {
                look(value, &schema["items"], format!("{path}[{index}]"), found);
            }
        }
        // A single value is taken for a list of one.
        (value, None) if schema.get("items").is_some() => {
            look(value, &schema["items"], path, found);
        }
        (_, _) => {}
    }
}

fn look_at_fields<'a>(
    fields: &'a Map<String, Value>,
    known: &'a Map<String, Value>,
    path: &str,
    found: &mut Vec<Unknown<'a>>,
) {
    let dot = if path.is_empty() { "" } else { "." };
    for (field, value) in fields {
        let place = format!("{path}{dot}{}", text::clean(field));
        match known.get(field) {
            Some(schema) => look(value, schema, place, found),
            None if REFUSED_ELSEWHERE.contains(&field.as_str()) => {}
            None => found.push(Unknown {
                path: place,
                field,
                known: known.keys().map(String::as_str).collect(),
            }),
        }
    }
}

fn remove_unknown(value: &mut Value, schema: &Value) {
    let schema = of_kind(value, schema);
    match (value, schema["properties"].as_object()) {
        (Value::Object(fields), Some(known)) => fields.retain(|field, value| {
            let Some(schema) = known.get(field) else {
                return REFUSED_ELSEWHERE.contains(&field.as_str());
            };
            remove_unknown(value, schema);
            true
        }),
        (Value::Array(values), _) => {
            for value in values {
                remove_unknown(value, &schema["items"]);
            }
        }
        (value, None) if schema.get("items").is_some() => {
            remove_unknown(value, &schema["items"]);
        }
        (_, _) => {}
    }
}

/// Returns the alternative of a schema that describes an object, for a value that is an object.
fn of_kind<'a>(value: &Value, schema: &'a Value) -> &'a Value {
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let mut fitting = alternatives.filter(|one| value.is_object() == (one["type"] == "object"));
    fitting.next().unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_unknown_field_is_named_where_it_stands() {
        let call = json!({"tsks": 1, "tasks": [
            {"name": "a", "prompt": "p", "model": "big"},
            {"name": "b", "promt": "p", "files": ["x", {"path": "y", "lines": 3}]},
        ]});
        let warnings = check_fields("delegate_to_subagents", &call, Door::Pi).unwrap();
        assert_eq!(
            warnings,
            [
                "tsks is unknown and was ignored; did you mean tasks?",
                "tasks[0].model is unknown and was ignored; known are name, prompt, cwd, profile, timeout, resume, needs, afterFailure, forEach, attempts, models, pick, files, isolation, base, sandbox, network, gate, maxTurns, wrapUp, fallbackModels, outputSchema",
                "tasks[1].promt is unknown and was ignored; did you mean prompt?",
                "tasks[1].files[1].lines is unknown and was ignored; known are path, start, end, head, tail",
            ]
        );
        assert_eq!(
            without_unknown("delegate_to_subagents", &call),
            json!({"tasks": [
                {"name": "a", "prompt": "p"},
                {"name": "b", "files": ["x", {"path": "y"}]},
            ]})
        );
        for door in [Door::CommandLine, Door::Mcp] {
            let error = check_fields("delegate_to_subagents", &call, door).unwrap_err();
            assert_eq!(error.to_string(), "tsks is unknown; did you mean tasks?");
        }
    }

    #[test]
    fn one_value_for_a_list_and_a_tool_without_arguments_are_looked_at_too() {
        let one = json!({"tasks": {"preset": "a", "task": "t", "cdw": "/"}});
        let warnings = check_fields("subagent", &one, Door::Pi).unwrap();
        assert_eq!(
            warnings,
            ["tasks.cdw is unknown and was ignored; did you mean cwd?"]
        );
        let error = check_fields("list_subagent_profiles", &json!({"x": 1}), Door::Mcp);
        assert_eq!(
            error.unwrap_err().to_string(),
            "x is unknown; nothing is known here"
        );
        let fine = json!({"preset": "a", "task": "t", "chain": []});
        assert_eq!(check_fields("subagent", &fine, Door::Mcp).unwrap(), [""; 0]);
    }
}
