//! A tool as a caller's model sees it.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

/// One tool: its name, its purpose, and its parameters.
pub struct Tool {
    pub name: &'static str,
    /// The name for people, where tools are listed.
    pub label: &'static str,
    pub description: &'static str,
    pub effect: Effect,
    pub offered: Offered,
    /// True if a call of it uses definitions, so that it depends on the trust in the project.
    pub(crate) uses_definitions: bool,
    /// True if pi offers it only while it has models, and lets the caller choose among them.
    pub needs_models: bool,
    /// The line that pi's system prompt has about it.
    pub snippet: &'static str,
    /// The advice in pi's system prompt on using it well.
    pub guidelines: &'static [&'static str],
    pub parameters: Value,
}

/// The effect of calling a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    Reads,
    /// Starts runs and does not wait for them.
    Starts,
    /// Starts runs and waits until they are over.
    Runs,
    /// Brings what is there into the caller's files; a second call brings nothing more.
    Merges,
}

/// The time from which a tool is offered: each one costs a model words in every conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    Always,
    /// Once a run of the caller has left something in a worktree of its own.
    WithResults,
    /// Once a run of the caller waits for an answer that its model can give.
    WithQuestions,
}

/// Returns the schema of a tool's arguments, whole in itself: not every client follows references.
pub(crate) fn parameters<T: JsonSchema>() -> Value {
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

/// Returns whether a default is what a field is anyway when it is left out.
fn is_empty_default(default: &Value) -> bool {
    match default {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Array(list) => list.is_empty(),
        Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    }
}

/// Describes an optional field only as not required: models read `null` as an invitation.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(simplify),
        Value::Object(fields) => {
            fields.remove("format");
            if fields.get("default").is_some_and(is_empty_default) {
                fields.remove("default");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            // The list says what its elements are.
            if let Some(Value::Object(element)) = fields.get_mut("items") {
                element.remove("description");
            }
            fields.values_mut().for_each(simplify);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
