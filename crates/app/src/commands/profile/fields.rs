//! The fields of a definition as programs and people read them. Keys are masked.

use pi_subagents_delegation::{Definition, Dialect, Field};
use serde_json::{Map, Value, json};

/// A field, if it is set.
pub(super) fn value(definition: &Definition, field: Field) -> Option<Value> {
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    let switch = |is_on: bool| is_on.then(|| json!(true));
    let list = |names: &[String]| (!names.is_empty()).then(|| json!(names));
    match field {
        Field::Name => Some(json!(definition.name)),
        Field::Description => text(&definition.description),
        Field::Provider => text(&definition.provider),
        Field::Model => text(&definition.model),
        Field::Thinking => definition.thinking.map(|level| json!(level.as_str())),
        Field::Tools => definition.tools.as_ref().map(|names| json!(names)),
        Field::NoTools => switch(definition.no_tools),
        Field::ExcludeTools => definition.exclude_tools.as_ref().map(|names| json!(names)),
        Field::Extensions => list(&definition.extensions),
        Field::NoExtensions => switch(definition.no_extensions),
        Field::SuggestedSkills => list(&definition.suggested_skills),
        Field::LoadSkills => list(&definition.load_skills),
        Field::NoSkills => switch(definition.no_skills),
        Field::NoContextFiles => switch(definition.no_context_files),
        Field::AppendSystemPrompt => text(&definition.append_system_prompt),
        Field::ApiKey => definition
            .api_key
            .as_ref()
            .map(|key| json!(key.to_string())),
        Field::ExtraArgs => list(&definition.extra_args),
        Field::Runner => definition.runner.map(|runner| json!(runner.as_str())),
        Field::Timeout => definition.timeout.map(|time| match time.subsec_nanos() {
            0 => json!(time.as_secs()),
            _ => json!(time.as_secs_f64()),
        }),
        Field::Finalize => definition.finalize.then(|| json!(true)),
        Field::Body => text(&definition.body),
    }
}

/// A field as a line of text, if it is set.
pub(super) fn text(definition: &Definition, field: Field) -> Option<String> {
    let value = value(definition, field)?;
    Some(match (field, value) {
        (_, Value::String(text)) => text,
        (_, Value::Array(items)) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            words.join(", ")
        }
        (Field::Timeout, seconds) => format!("{seconds}s"),
        (_, other) => other.to_string(),
    })
}

/// The whole definition as programs read it, with the keys of a profile whatever it is.
pub(super) fn to_json(definition: &Definition) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(definition.name));
    object.insert("dialect".to_owned(), json!(definition.dialect.as_str()));
    object.insert("scope".to_owned(), json!(definition.scope.as_str()));
    object.insert("file".to_owned(), json!(definition.file));
    for field in Field::ALL {
        if let Some(value) = value(definition, field) {
            object.insert(key(field).to_owned(), value);
        }
    }
    Value::Object(object)
}

fn key(field: Field) -> &'static str {
    match field {
        Field::Body => "systemPrompt",
        other => other.key(Dialect::Profile),
    }
}
