//! The entries of a frontmatter → the fields of a definition.

use pi_subagents_vocabulary::{
    Definition, Field, Isolation, Origin, OutputSchema, RunnerChoice, Scope, Secret, ThinkingLevel,
};

use super::keys::{field_of, meant_by};
use super::values::{gates, json, names, optional_names, seconds, switch, text, words};
use pi_subagents_pi_files::yaml::Entry;
use pi_subagents_pi_files::{Position, Problem};

/// Something odd that does no harm.
pub(super) type Note = (Position, String);

/// Reads the name, which every definition must have.
pub(super) fn name(entries: &[Entry]) -> Result<String, Problem> {
    let entry = entries.iter().find(|entry| entry.key == "name");
    let Some(entry) = entry else {
        return Err(Problem::at(Position::line(1), "there is no \"name\""));
    };
    let Some(name) = text(entry)? else {
        return Err(Problem::at(entry.position, "there is no \"name\""));
    };
    if !fits_name(&name) {
        return Err(Problem::at(
            entry.value.position,
            format!("the name \"{name}\" may have only letters, digits, \"-\" and \"_\""),
        ));
    }
    Ok(name)
}

/// Returns whether something can be the name of a definition: `[a-zA-Z0-9_-]+`.
pub fn fits_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(is_allowed)
}

/// Takes every field but the name and the body.
pub(super) fn fill(definition: &mut Definition, entries: &[Entry]) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    for entry in entries {
        let Some((field, key)) = field_of(&entry.key) else {
            notes.push((entry.position, unknown_key(&entry.key)));
            continue;
        };
        let origin = Origin {
            key,
            line: entry.position.line,
        };
        if let Some(earlier) = definition.origins.get(&field) {
            let message = format!("\"{}\" and \"{key}\" mean the same; keep one", earlier.key);
            return Err(Problem::at(entry.position, message));
        }
        let note = take(definition, field, entry)?;
        notes.extend(note.map(|note| (entry.value.position, note)));
        if is_set(definition, field) {
            definition.origins.insert(field, origin);
        }
    }
    Ok(notes)
}

/// Takes one field. Returns the warning about it, if it is odd.
fn take(
    definition: &mut Definition,
    field: Field,
    entry: &Entry,
) -> Result<Option<String>, Problem> {
    let note = match field {
        Field::Name | Field::Body => None,
        Field::Description => taken(&mut definition.description, text(entry)?),
        Field::Provider => taken(&mut definition.provider, text(entry)?),
        Field::Model => taken(&mut definition.model, text(entry)?),
        Field::Thinking => return thinking(definition, entry),
        Field::Tools => return tools(definition, entry),
        Field::NoTools => switched(&mut definition.no_tools, entry)?,
        Field::ExcludeTools => taken(&mut definition.exclude_tools, optional_names(entry)?),
        Field::Extensions => taken(&mut definition.extensions, names(entry)?),
        Field::NoExtensions => switched(&mut definition.no_extensions, entry)?,
        Field::SuggestedSkills => taken(&mut definition.suggested_skills, names(entry)?),
        Field::LoadSkills => taken(&mut definition.load_skills, names(entry)?),
        Field::NoSkills => switched(&mut definition.no_skills, entry)?,
        Field::NoContextFiles => switched(&mut definition.no_context_files, entry)?,
        Field::AppendSystemPrompt => taken(&mut definition.append_system_prompt, text(entry)?),
        Field::ApiKey => return api_key(definition, entry),
        Field::ExtraArgs => taken(&mut definition.extra_args, words(entry)?),
        Field::Runner => return runner(definition, entry),
        Field::Isolation => taken(&mut definition.isolation, isolation(entry)?),
        Field::Timeout => taken(&mut definition.timeout, seconds(entry)?),
        Field::Gate => taken(&mut definition.gates, gates(entry)?),
        Field::OutputSchema => return output_schema(definition, entry),
        Field::OutputSchemaFile => taken(&mut definition.output_schema_file, text(entry)?),
        Field::Finalize => switched(&mut definition.finalize, entry)?,
    };
    Ok(note)
}

fn taken<T>(field: &mut T, value: T) -> Option<String> {
    *field = value;
    None
}

/// Takes a switch. An empty value leaves the switch as it is.
fn switched(field: &mut bool, entry: &Entry) -> Result<Option<String>, Problem> {
    let (value, note) = switch(entry)?;
    *field = value.unwrap_or(*field);
    Ok(note)
}

fn tools(definition: &mut Definition, entry: &Entry) -> Result<Option<String>, Problem> {
    definition.tools = optional_names(entry)?;
    Ok(definition.tools.is_none().then(|| {
        format!(
            "\"{}\" is empty, which counts as left out; \"noTools: true\" gives no tools",
            entry.key
        )
    }))
}

fn thinking(definition: &mut Definition, entry: &Entry) -> Result<Option<String>, Problem> {
    let Some(word) = text(entry)? else {
        return Ok(None);
    };
    definition.thinking = ThinkingLevel::from_word(&word);
    let levels = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
    Ok(definition.thinking.is_none().then(|| {
        format!(
            "\"{}\" must be one of {levels}, not \"{word}\"; it is ignored",
            entry.key
        )
    }))
}

fn runner(definition: &mut Definition, entry: &Entry) -> Result<Option<String>, Problem> {
    let Some(word) = text(entry)? else {
        return Ok(None);
    };
    definition.runner = RunnerChoice::from_word(&word);
    let runners = RunnerChoice::ALL.map(RunnerChoice::as_str).join(", ");
    Ok(definition.runner.is_none().then(|| {
        format!(
            "\"{}\" must be one of {runners}, not \"{word}\"; it is ignored",
            entry.key
        )
    }))
}

/// Reads where runs work. A word that nobody knows makes the file unusable: it was to keep the runs
/// apart, and they would share the checkout.
fn isolation(entry: &Entry) -> Result<Option<Isolation>, Problem> {
    let Some(word) = text(entry)? else {
        return Ok(None);
    };
    let known = Isolation::from_word(&word).ok_or_else(|| {
        let words = Isolation::ALL.map(Isolation::as_str).join(" or ");
        let message = format!("\"{}\" must be {words}, not \"{word}\"", entry.key);
        Problem::at(entry.value.position, message)
    })?;
    Ok(Some(known))
}

/// Takes a schema, which must be usable: a run that is not checked would be worse than none.
fn output_schema(definition: &mut Definition, entry: &Entry) -> Result<Option<String>, Problem> {
    let schema = json(&entry.value.value);
    if schema.is_null() {
        return Ok(None);
    }
    let schema = OutputSchema::new(schema).map_err(|error| {
        let message = format!("\"{}\" cannot be used: {error}", entry.key);
        Problem::at(entry.value.position, message)
    })?;
    definition.output_schema = Some(schema.source().clone());
    Ok(None)
}

fn api_key(definition: &mut Definition, entry: &Entry) -> Result<Option<String>, Problem> {
    // The reason must not repeat the value, which is a secret.
    let key = text(entry).map_err(|problem| Problem {
        message: format!("\"{}\" must be text", entry.key),
        ..problem
    })?;
    match definition.scope {
        Scope::Global => {
            definition.api_key = key.map(Secret::new);
            Ok(None)
        }
        Scope::Project => Ok(key.map(|_| {
            format!(
                "\"{}\" is never taken from a file of a project; it is ignored",
                entry.key
            )
        })),
    }
}

fn unknown_key(key: &str) -> String {
    match meant_by(key) {
        Some(meant) => format!("unknown key \"{key}\" is ignored; did you mean \"{meant}\"?"),
        None => format!("unknown key \"{key}\" is ignored"),
    }
}

/// Returns whether a field has a value after reading; a key alone does not give it one.
fn is_set(definition: &Definition, field: Field) -> bool {
    match field {
        Field::Name | Field::Finalize => true,
        Field::Description => definition.description.is_some(),
        Field::Provider => definition.provider.is_some(),
        Field::Model => definition.model.is_some(),
        Field::Thinking => definition.thinking.is_some(),
        Field::Tools => definition.tools.is_some(),
        Field::NoTools => definition.no_tools,
        Field::ExcludeTools => definition.exclude_tools.is_some(),
        Field::Extensions => !definition.extensions.is_empty(),
        Field::NoExtensions => definition.no_extensions,
        Field::SuggestedSkills => !definition.suggested_skills.is_empty(),
        Field::LoadSkills => !definition.load_skills.is_empty(),
        Field::NoSkills => definition.no_skills,
        Field::NoContextFiles => definition.no_context_files,
        Field::AppendSystemPrompt => definition.append_system_prompt.is_some(),
        Field::ApiKey => definition.api_key.is_some(),
        Field::ExtraArgs => !definition.extra_args.is_empty(),
        Field::Runner => definition.runner.is_some(),
        Field::Isolation => definition.isolation.is_some(),
        Field::Timeout => definition.timeout.is_some(),
        Field::Gate => !definition.gates.is_empty(),
        Field::OutputSchema => definition.output_schema.is_some(),
        Field::OutputSchemaFile => definition.output_schema_file.is_some(),
        Field::Body => definition.body.is_some(),
    }
}
