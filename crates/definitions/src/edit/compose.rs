//! A definition → the text of a new file.

use pi_subagents_delegation::{Definition, Field};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// What is written for a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    Text(String),
    Switch(bool),
    Number(u64),
    Fraction(f64),
    List(Vec<String>),
}

/// The text of a new file.
pub(super) fn file(definition: &Definition) -> String {
    let fields = Field::ALL.into_iter().filter_map(|field| {
        let value = written(definition, field)?;
        Some((definition.key(field), value))
    });
    let frontmatter = frontmatter(fields.collect());
    match &definition.body {
        None => format!("---\n{frontmatter}---\n"),
        Some(body) => format!("---\n{frontmatter}---\n\n{body}\n"),
    }
}

/// What is written for a field, if it is written at all.
pub(super) fn written(definition: &Definition, field: Field) -> Option<Written> {
    let text = |text: &Option<String>| text.clone().map(Written::Text);
    let switch = |is_on: bool| is_on.then_some(Written::Switch(true));
    let list = |words: &[String]| (!words.is_empty()).then(|| Written::List(words.to_vec()));
    match field {
        Field::Name => Some(Written::Text(definition.name.clone())),
        Field::Description => text(&definition.description),
        Field::Provider => text(&definition.provider),
        Field::Model => text(&definition.model),
        Field::Thinking => definition
            .thinking
            .map(|level| Written::Text(level.as_str().into())),
        Field::Tools => definition.tools.as_deref().map(names),
        Field::NoTools => switch(definition.no_tools),
        Field::ExcludeTools => definition.exclude_tools.as_deref().map(names),
        Field::Extensions => list(&definition.extensions),
        Field::NoExtensions => switch(definition.no_extensions),
        Field::SuggestedSkills => list(&definition.suggested_skills).map(as_names),
        Field::LoadSkills => list(&definition.load_skills).map(as_names),
        Field::NoSkills => switch(definition.no_skills),
        Field::NoContextFiles => switch(definition.no_context_files),
        Field::AppendSystemPrompt => text(&definition.append_system_prompt),
        Field::ApiKey => definition
            .api_key
            .as_ref()
            .map(|key| Written::Text(key.expose().into())),
        Field::ExtraArgs => list(&definition.extra_args),
        Field::Runner => definition
            .runner
            .map(|runner| Written::Text(runner.as_str().into())),
        Field::Timeout => definition.timeout.map(|time| match time.subsec_nanos() {
            0 => Written::Number(time.as_secs()),
            _ => Written::Fraction(time.as_secs_f64()),
        }),
        Field::Finalize => {
            let is_unusual = definition.finalize != definition.dialect.finalizes();
            // The key also tells a prompt from a profile where the folder does not.
            let was_written = definition.origins.contains_key(&Field::Finalize);
            (is_unusual || was_written || needs_telling(definition))
                .then_some(Written::Switch(definition.finalize))
        }
        Field::Body => None,
    }
}

/// Whether a prompt has keys that would make a profile of it.
fn needs_telling(definition: &Definition) -> bool {
    let has_profile_keys = definition.thinking.is_some()
        || definition.no_tools
        || definition.no_extensions
        || definition.no_skills
        || definition.no_context_files
        || !definition.suggested_skills.is_empty()
        || !definition.load_skills.is_empty();
    let has_prompt_keys = definition.tools.is_some() || definition.exclude_tools.is_some();
    definition.dialect.finalizes() && has_profile_keys && !has_prompt_keys
}

/// Names are written with commas, as the documents have them, unless that would change them.
fn names(names: &[String]) -> Written {
    let is_plain = names.iter().all(|name| !name.contains(','));
    if is_plain && !names.is_empty() {
        Written::Text(names.join(","))
    } else {
        Written::List(names.to_vec())
    }
}

fn as_names(written: Written) -> Written {
    match written {
        Written::List(words) => names(&words),
        other @ (Written::Text(_)
        | Written::Switch(_)
        | Written::Number(_)
        | Written::Fraction(_)) => other,
    }
}

/// Lines of `key: value`.
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
            Self::List(words) => words.serialize(serializer),
        }
    }
}
