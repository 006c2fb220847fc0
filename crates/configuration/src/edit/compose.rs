//! A definition → the text of a new file.

use pi_subagents_vocabulary::{Definition, Dialect, Field, FieldValue, Gate, McpServer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// The value that is written for a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    Text(String),
    Switch(bool),
    Number(u64),
    Fraction(f64),
    /// Names, which may be written as a list or with commas between them.
    Names(Vec<String>),
    /// Texts, which are always written as a list.
    List(Vec<String>),
    Json(Value),
}

/// Composes the text of a new file.
pub(super) fn file(definition: &Definition) -> String {
    let fields = Field::of_frontmatter().filter_map(|field| {
        let value = written(definition, field)?;
        Some((definition.key(field), value))
    });
    let frontmatter = frontmatter(fields.collect());
    match &definition.body {
        None => format!("---\n{frontmatter}---\n"),
        Some(body) => format!("---\n{frontmatter}---\n\n{body}\n"),
    }
}

/// Composes the text of a copy: comments below the fields, and the body as it is in the original.
pub(super) fn copy(definition: &Definition, comments: &[String], body: &str) -> String {
    let fields = file(&Definition {
        body: None,
        ..definition.clone()
    });
    let fields = fields.strip_suffix("---\n").unwrap_or(&fields);
    let comments = comments.iter().map(|line| format!("# {line}\n"));
    let comments: String = comments.collect();
    format!("{fields}{comments}---\n{body}")
}

/// Returns the value that is written for a field of the frontmatter; `None` if the field is left out.
pub(super) fn written(definition: &Definition, field: Field) -> Option<Written> {
    if field == Field::Finalize {
        return finalize(definition);
    }
    Some(match definition.value(field)? {
        FieldValue::Text(text) => Written::Text(text.to_owned()),
        FieldValue::Secret(secret) => Written::Text(secret.expose().to_owned()),
        FieldValue::Switch(is_on) => Written::Switch(is_on),
        FieldValue::Names(list) => Written::Names(list.to_vec()),
        FieldValue::Texts(list) => Written::List(list.to_vec()),
        FieldValue::Time(time) => match time.subsec_nanos() {
            0 => Written::Number(time.as_secs()),
            _ => Written::Fraction(time.as_secs_f64()),
        },
        FieldValue::Count(count) => Written::Number(count.into()),
        FieldValue::Gates(gates) => match Gate::write_all(gates) {
            Value::String(command) => Written::Text(command),
            other => Written::Json(other),
        },
        FieldValue::Servers(servers) => Written::Json(McpServer::write_all(servers)),
        FieldValue::Json(value) => Written::Json(value.clone()),
    })
}

/// Returns the value of `finalize`. This key also tells a prompt from a profile if the folder does
/// not.
fn finalize(definition: &Definition) -> Option<Written> {
    let is_unusual = definition.finalize != definition.dialect.finalizes();
    let was_written = definition.origins.contains_key(&Field::Finalize);
    (is_unusual || was_written || needs_telling(definition))
        .then_some(Written::Switch(definition.finalize))
}

/// Returns whether a prompt has keys that would make a profile of it.
fn needs_telling(definition: &Definition) -> bool {
    let shows = |dialect: Dialect| {
        let mut others = Field::of_frontmatter().filter(|field| *field != Field::Finalize);
        others.any(|field| {
            let key = definition.key(field);
            let shown = field.row().keys().find(|(known, _)| *known == key);
            let is_telling = shown.is_some_and(|(_, shown)| shown == Some(dialect));
            is_telling && definition.value(field).is_some()
        })
    };
    definition.dialect.finalizes() && shows(Dialect::Profile) && !shows(Dialect::Prompt)
}

/// Returns names with commas between them, as the documents have them; `None` if that would change
/// the names.
pub(super) fn with_commas(names: &[String]) -> Option<String> {
    let is_plain = names.iter().all(|name| !name.contains(','));
    (is_plain && !names.is_empty()).then(|| names.join(","))
}

/// Writes fields as lines of `key: value`.
pub(super) fn frontmatter(fields: Vec<(&'static str, Written)>) -> String {
    let mut text = serde_saphyr::to_string(&Fields(fields)).unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

struct Fields(Vec<(&'static str, Written)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Switch(is_on) => serializer.serialize_bool(*is_on),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Fraction(number) => serializer.serialize_f64(*number),
            Self::Names(names) => match with_commas(names) {
                Some(text) => serializer.serialize_str(&text),
                None => names.serialize(serializer),
            },
            Self::List(words) => words.serialize(serializer),
            Self::Json(value) => value.serialize(serializer),
        }
    }
}
