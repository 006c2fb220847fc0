//! The tools of the delegation family, as a caller's model sees them.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema::DelegateCall;
use crate::dialects::arguments;

/// One tool: its name, what it is for, and what it takes.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) parameters: Value,
}

/// Arguments of the tools that read a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(crate) struct SessionCall {
    /// The session id that `delegate_to_subagents` returned.
    #[serde(deserialize_with = "arguments::text")]
    pub(crate) session_id: String,
}

/// Arguments of a tool that takes none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub(crate) struct NoArguments {}

/// All tools of the family, in the order of the reference.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool {
            name: "delegate_to_subagents",
            description: "Spawn one or more parallel sub-agents to work on separate tasks. Each runs in an isolated process with its own context, tools and working directory. Returns one line per task with its session id; read what a sub-agent answered with get_subagent_output.",
            parameters: parameters::<DelegateCall>(),
        },
        Tool {
            name: "get_subagent_output",
            description: "Retrieve the final text of a sub-agent session; for a resumed session, that of its latest run.",
            parameters: parameters::<SessionCall>(),
        },
        Tool {
            name: "get_subagent_session",
            description: "Retrieve the complete transcript of a sub-agent session: all messages, tool calls and tool results of all its runs.",
            parameters: parameters::<SessionCall>(),
        },
        Tool {
            name: "list_subagent_profiles",
            description: "List all named sub-agent definitions that can be used with delegate_to_subagents.",
            parameters: parameters::<NoArguments>(),
        },
    ]
}

/// The schema of a tool's arguments, whole in itself: not every client follows references.
fn parameters<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings)
        .into_root_schema_for::<T>()
        .to_value();
    if let Value::Object(fields) = &mut schema {
        fields.remove("title");
        fields.remove("description");
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    simplify(&mut schema);
    schema
}

/// Says of an optional field only that it is not required: models read `null` as an invitation.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(simplify),
        Value::Object(fields) => {
            fields.remove("format");
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            fields.values_mut().for_each(simplify);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_plain_and_whole_in_themselves() {
        let schema = parameters::<DelegateCall>();
        let task = &schema["properties"]["tasks"]["items"];
        assert_eq!(schema["required"], json!(["tasks"]));
        assert_eq!(schema["properties"]["tasks"]["maxItems"], 16);
        assert_eq!(task["required"], json!(["name", "prompt"]));
        assert_eq!(task["properties"]["timeout"]["type"], "number");
        assert_eq!(task["properties"]["timeout"]["minimum"], 1);
        let text = schema.to_string();
        for unwanted in ["null", "$ref", "\"format\""] {
            assert!(!text.contains(unwanted), "{unwanted} in {text}");
        }
    }
}
