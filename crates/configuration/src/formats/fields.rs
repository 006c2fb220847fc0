//! The entries of a frontmatter → the fields of a definition.

use pi_subagents_vocabulary::{
    Definition, Field, FieldChoice, FieldKind, FieldList, FieldSlot, Origin, OutputSchema, Scope,
    Secret, UnknownWord,
};
use serde_json::Value;

use super::foreign::is_restriction_elsewhere;
use super::keys::{field_of, meant_by};
use super::values::{
    gates, json, names, optional_names, seconds, servers, switch, text, whole_number, words,
};
use pi_subagents_pi_files::yaml::YamlEntry;
use pi_subagents_pi_files::{Position, Problem};

/// Something odd that does no harm.
pub(super) type Note = (Position, String);

/// Reads the name, which every definition must have.
pub(super) fn name(entries: &[YamlEntry]) -> Result<String, Problem> {
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
pub(super) fn fill(
    definition: &mut Definition,
    entries: &[YamlEntry],
) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    for entry in entries {
        let Some((field, key)) = field_of(&entry.key) else {
            notes.push((entry.position, unknown_key(entry)?));
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
        // A key alone does not give a field a value.
        definition.origins.insert(field, origin);
        if definition.value(field).is_none() {
            definition.origins.remove(&field);
        }
    }
    Ok(notes)
}

/// Takes one field. Returns the warning about it, if it is odd.
fn take(
    definition: &mut Definition,
    field: Field,
    entry: &YamlEntry,
) -> Result<Option<String>, Problem> {
    match field.row().kind {
        // The name was read first, because errors name the definition.
        FieldKind::Name => {}
        FieldKind::Text(slot) | FieldKind::LongText(slot) => *slot.of(definition) = text(entry)?,
        FieldKind::Choice(choice) => return chosen(definition, choice, entry),
        FieldKind::Switch(slot) | FieldKind::DialectSwitch(slot) => {
            return switched(slot.of(definition), entry);
        }
        FieldKind::Names(slot) => *slot.of(definition) = names(entry)?,
        FieldKind::OptionalNames(slot) => {
            let names = optional_names(entry)?;
            let is_empty = names.is_none();
            *slot.of(definition) = names;
            return Ok((is_empty && field == Field::Tools).then(|| no_tools_named(entry)));
        }
        FieldKind::Texts(slot) => *slot.of(definition) = words(entry)?,
        FieldKind::Listed(list) => return listed(definition, list, entry),
        FieldKind::Secret(slot) => return secret(definition, slot, entry),
        FieldKind::Time(slot) => *slot.of(definition) = seconds(entry)?,
        FieldKind::Count(slot) => *slot.of(definition) = whole_number(entry)?,
        FieldKind::Gates(slot) => *slot.of(definition) = gates(entry)?,
        FieldKind::Schema(slot) => *slot.of(definition) = schema(entry)?,
        FieldKind::Servers(slot) => *slot.of(definition) = servers(entry)?,
    }
    Ok(None)
}

/// Takes a switch. An empty value leaves the switch as it is.
fn switched(field: &mut bool, entry: &YamlEntry) -> Result<Option<String>, Problem> {
    let (value, note) = switch(entry)?;
    *field = value.unwrap_or(*field);
    Ok(note)
}

fn no_tools_named(entry: &YamlEntry) -> String {
    format!(
        "\"{}\" is empty, which counts as left out; \"noTools: true\" gives no tools",
        entry.key
    )
}

/// Takes one of a few words. Another word is ignored, or it makes the file unusable.
fn chosen(
    definition: &mut Definition,
    choice: FieldChoice,
    entry: &YamlEntry,
) -> Result<Option<String>, Problem> {
    let Some(word) = text(entry)? else {
        return Ok(None);
    };
    choice.set(definition, Some(&word));
    if choice.words().contains(&word.as_str()) {
        return Ok(None);
    }
    let message = format!(
        "\"{}\" must be {}, not \"{word}\"",
        entry.key,
        choice.rule()
    );
    match choice.unknown {
        UnknownWord::Ignored => Ok(Some(format!("{message}; it is ignored"))),
        UnknownWord::Refused => Err(Problem::at(entry.value.position, message)),
    }
}

/// Takes a list with a rule. A list that does not follow its rule makes the file unusable, and a list
/// that gives more to the sub-agent is not taken from a project.
fn listed(
    definition: &mut Definition,
    list: FieldList,
    entry: &YamlEntry,
) -> Result<Option<String>, Problem> {
    let names = names(entry)?;
    (list.check)(&names)
        .map_err(|why| Problem::at(entry.value.position, format!("\"{}\" {why}", entry.key)))?;
    if list.gives_more && definition.scope == Scope::Project {
        return Ok((!names.is_empty()).then(|| not_of_a_project(entry)));
    }
    *list.of(definition) = names;
    Ok(None)
}

fn not_of_a_project(entry: &YamlEntry) -> String {
    format!(
        "\"{}\" is never taken from a file of a project; it is ignored",
        entry.key
    )
}

/// Reads a schema, which must be usable: a run that is not checked would be worse than none.
fn schema(entry: &YamlEntry) -> Result<Option<Value>, Problem> {
    let schema = json(&entry.value.value);
    if schema.is_null() {
        return Ok(None);
    }
    let schema = OutputSchema::new(schema).map_err(|error| {
        let message = format!("\"{}\" cannot be used: {error}", entry.key);
        Problem::at(entry.value.position, message)
    })?;
    Ok(Some(schema.source().clone()))
}

fn secret(
    definition: &mut Definition,
    slot: FieldSlot<Option<Secret>>,
    entry: &YamlEntry,
) -> Result<Option<String>, Problem> {
    // The reason must not repeat the value, which is a secret.
    let key = text(entry).map_err(|problem| Problem {
        message: format!("\"{}\" must be text", entry.key),
        ..problem
    })?;
    match definition.scope {
        Scope::Global => {
            *slot.of(definition) = key.map(Secret::new);
            Ok(None)
        }
        Scope::Project => Ok(key.map(|_| not_of_a_project(entry))),
    }
}

/// Returns the warning about an unknown key. A key that was probably meant to restrict the
/// sub-agent makes the file unusable: the run would do what its author wanted to forbid.
fn unknown_key(entry: &YamlEntry) -> Result<String, Problem> {
    let key = &entry.key;
    if is_restriction_elsewhere(key) {
        let message = format!(
            "\"{key}\" restricts agents of another tool and means nothing here; use \"tools\", \"excludeTools\" or \"noTools\""
        );
        return Err(Problem::at(entry.position, message));
    }
    let Some((field, meant)) = meant_by(key) else {
        return Ok(format!("unknown key \"{key}\" is ignored"));
    };
    let guess = format!("did you mean \"{meant}\"?");
    if field.restricts() {
        let message = format!("unknown key \"{key}\"; {guess} A restriction would not hold");
        return Err(Problem::at(entry.position, message));
    }
    Ok(format!("unknown key \"{key}\" is ignored; {guess}"))
}
