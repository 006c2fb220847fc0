//! The terms on which a task is done, the same in every family: where it works, and what must hold
//! before it counts as completed. Models read the doc comments.

use std::fmt::Display;

use pi_subagents_vocabulary::{BaseChoice, Gate, Isolation};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::arguments::{must_be, optional_text};

/// The names of the fields, as a model writes them.
pub(crate) const TERMS: [&str; 4] = ["isolation", "base", "gate", "outputSchema"];

/// The terms of a task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskTerms {
    /// "worktree": in a git worktree of its own, with your uncommitted changes; its result waits to be merged.
    #[serde(default, deserialize_with = "isolation")]
    #[schemars(with = "Option<String>", extend("enum" = ["none", "worktree"]))]
    pub isolation: Option<Isolation>,
    /// The state the worktree begins with: "working" (default), "head", or a branch, tag or commit.
    #[serde(default, deserialize_with = "base")]
    #[schemars(with = "Option<String>")]
    pub(crate) base: Option<BaseChoice>,
    /// Command that must pass before the task counts as completed, or a list; of the user's setting subagents.gates.
    #[serde(default, rename = "gate", deserialize_with = "gates")]
    #[schemars(schema_with = "schema_of_gates")]
    pub gates: Vec<Gate>,
    /// JSON schema of the result, which is then data; false for none.
    #[serde(default, deserialize_with = "output_schema")]
    #[schemars(schema_with = "schema_of_schema")]
    pub output_schema: SchemaWish,
}

impl TaskTerms {
    /// Returns the first field that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            self.isolation.is_some(),
            self.base.is_some(),
            !self.gates.is_empty(),
            self.output_schema != SchemaWish::Unsaid,
        ];
        let mut fields = TERMS.into_iter().zip(given);
        fields.find_map(|(field, is_given)| is_given.then_some(field))
    }
}

/// The wish of a task about the schema of its result.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum SchemaWish {
    /// It says nothing; what the call or the definition asks for holds.
    #[default]
    Unsaid,
    /// There is to be none.
    Nothing,
    /// The result must meet this, if it is a schema.
    Schema(Value),
}

/// Returns an error that names its field: these fields are read apart from the others of their task.
fn of_field<E: serde::de::Error>(field: &'static str) -> impl Fn(E) -> E {
    move |error| named(field, &error)
}

fn named<E: serde::de::Error>(field: &str, error: &dyn Display) -> E {
    E::custom(format!(".{field} {error}"))
}

/// Reads the kind of place where a run is to work, if one is given.
fn isolation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Isolation>, D::Error> {
    let read = optional_text(deserializer).and_then(|word| {
        let Some(word) = word else {
            return Ok(None);
        };
        let known = Isolation::from_word(word.trim());
        known
            .map(Some)
            .ok_or_else(|| must_be("none or worktree", &Value::String(word)))
    });
    read.map_err(of_field(TERMS[0]))
}

/// Reads what the worktree of a run begins from, if anything is said about it.
fn base<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BaseChoice>, D::Error> {
    let read = optional_text(deserializer).and_then(|text| {
        let Some(text) = text else {
            return Ok(None);
        };
        let expected = "working, head, or a branch, tag or commit";
        BaseChoice::parse(&text)
            .map(Some)
            .map_err(|_| must_be(expected, &Value::String(text)))
    });
    read.map_err(of_field(TERMS[1]))
}

/// Reads the gates of a task.
fn gates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Gate>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Gate::read_all(&value).map_err(|error| named(TERMS[2], &error))
}

/// Returns the schema of a field that holds gates. Models name commands; that a gate may be an object
/// is told to people, because every tool would repeat it in every request of a model.
fn schema_of_gates(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let command = json!({"type": "string"});
    schemars::json_schema!({"anyOf": [command, {"type": "array", "items": command}]})
}

/// Reads the wish of a task about the schema of its result. Whether it is a schema is found out
/// later, so that a wrong one refuses its task and no other.
fn output_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SchemaWish, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => SchemaWish::Unsaid,
        Value::Bool(false) => SchemaWish::Nothing,
        Value::String(text) if text.trim().is_empty() => SchemaWish::Unsaid,
        Value::String(text) if text.trim() == "false" => SchemaWish::Nothing,
        // Models like to write an object as a text.
        Value::String(text) => {
            SchemaWish::Schema(serde_json::from_str(&text).unwrap_or(Value::String(text)))
        }
        value => SchemaWish::Schema(value),
    })
}

/// Returns the schema of a field that holds a schema, or `false`.
fn schema_of_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": ["object", "boolean"]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::read;

    #[derive(Debug, Deserialize)]
    struct Task {
        #[serde(flatten)]
        terms: TaskTerms,
    }

    #[derive(Debug, Deserialize)]
    struct Call {
        tasks: Vec<Task>,
    }

    #[test]
    fn errors_name_the_field() {
        let error = |task: Value| {
            let read = read::<Call>(&json!({"tasks": [task]}));
            read.map(|call| call.tasks.len()).unwrap_err().0
        };
        assert_eq!(
            [
                error(json!({"isolation": "box"})),
                error(json!({"base": ["x"]})),
                error(json!({"gate": 7})),
                read::<Task>(&json!({"isolation": "box"})).unwrap_err().0,
            ],
            [
                "tasks[0].isolation must be none or worktree, not \"box\"",
                "tasks[0].base must be a text, not [\"x\"]",
                "tasks[0].gate must be a command, such as \"cargo test\", an object with a command, or a list of these",
                "isolation must be none or worktree, not \"box\"",
            ]
        );
    }

    #[test]
    fn the_first_field_that_is_given_is_named() {
        let first = |task: Value| read::<Task>(&task).unwrap().terms.first_given();
        assert_eq!(first(json!({"base": ""})), None);
        assert_eq!(
            first(json!({"gate": "true", "outputSchema": {}})),
            Some("gate")
        );
        assert_eq!(first(json!({"outputSchema": false})), Some("outputSchema"));
    }
}
