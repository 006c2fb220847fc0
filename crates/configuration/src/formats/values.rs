//! A value of a frontmatter → the type its field has.
//!
//! A value of the wrong type makes the file useless: leaving out a restriction that cannot be
//! read would give the child more than its author meant.

use std::time::Duration;

use pi_subagents_pi_files::Problem;
use pi_subagents_pi_files::yaml::{Node, Value, YamlEntry};
use pi_subagents_vocabulary::{Gate, McpServer, read_servers};

/// Reads a text; a number is taken as it was written.
pub(super) fn text(entry: &YamlEntry) -> Result<Option<String>, Problem> {
    let text = match &entry.value.value {
        Value::Null => return Ok(None),
        Value::Text(text) => text.trim(),
        Value::Number(number) => number,
        Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            return Err(wrong(entry, &entry.value, "must be text"));
        }
    };
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// Reads a switch and returns a note if it is written in an odd way. A word or number with a clear
/// meaning is accepted, because leaving the whole file out would not help its author.
pub(super) fn switch(entry: &YamlEntry) -> Result<(Option<bool>, Option<String>), Problem> {
    let written = match &entry.value.value {
        Value::Null => return Ok((None, None)),
        Value::Bool(value) => return Ok((Some(*value), None)),
        Value::Number(word) | Value::Text(word) => word.trim(),
        Value::List(_) | Value::Map(_) => return Err(not_a_switch(entry)),
    };
    if written.is_empty() {
        return Ok((None, None));
    }
    let value = match written.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => true,
        "false" | "no" | "off" | "0" => false,
        _ => return Err(not_a_switch(entry)),
    };
    let note = format!(
        "\"{}\" should be true or false, not {}; it is read as {value}",
        entry.key,
        shown(&entry.value)
    );
    Ok((Some(value), Some(note)))
}

fn not_a_switch(entry: &YamlEntry) -> Problem {
    wrong(entry, &entry.value, "must be true or false")
}

/// Reads names as [`names`] does. A list without any counts as left out.
pub(super) fn optional_names(entry: &YamlEntry) -> Result<Option<Vec<String>>, Problem> {
    Ok(Some(names(entry)?).filter(|names| !names.is_empty()))
}

/// Reads names, in a list or with commas between them; empty names do not count.
pub(super) fn names(entry: &YamlEntry) -> Result<Vec<String>, Problem> {
    let words = words(entry)?;
    let names = words.iter().map(|word| word.trim());
    Ok(names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// Reads words: the items of a list as they are, or the parts of a text between its commas.
pub(super) fn words(entry: &YamlEntry) -> Result<Vec<String>, Problem> {
    match &entry.value.value {
        Value::Null => Ok(Vec::new()),
        Value::Number(number) => Ok(vec![number.clone()]),
        Value::Text(text) => Ok(text
            .split(',')
            .map(|word| word.trim().to_owned())
            .filter(|word| !word.is_empty())
            .collect()),
        Value::List(items) => items.iter().map(|item| word(entry, item)).collect(),
        Value::Bool(_) | Value::Map(_) => Err(wrong(
            entry,
            &entry.value,
            "must be a list or a text with commas",
        )),
    }
}

fn word(entry: &YamlEntry, item: &Node) -> Result<String, Problem> {
    match &item.value {
        Value::Text(word) | Value::Number(word) => Ok(word.clone()),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            Err(wrong(entry, item, "must be a list of texts"))
        }
    }
}

/// Reads a time in seconds, at least 1.
pub(super) fn seconds(entry: &YamlEntry) -> Result<Option<Duration>, Problem> {
    let Some(written) = text(entry)? else {
        return Ok(None);
    };
    let seconds = written
        .parse::<f64>()
        .ok()
        .filter(|seconds| *seconds >= 1.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(time) => Ok(Some(time)),
        None => Err(Problem::at(
            entry.value.position,
            format!(
                "\"{}\" must be a number of seconds from 1, not {written}",
                entry.key
            ),
        )),
    }
}

/// Reads a whole number, at least 1.
pub(super) fn whole_number(entry: &YamlEntry) -> Result<Option<u32>, Problem> {
    let Some(written) = text(entry)? else {
        return Ok(None);
    };
    match written.parse::<u32>().ok().filter(|number| *number >= 1) {
        Some(number) => Ok(Some(number)),
        None => Err(Problem::at(
            entry.value.position,
            format!(
                "\"{}\" must be a whole number from 1, not {written}",
                entry.key
            ),
        )),
    }
}

/// Reads gates: a command, a mapping with a command, or a list of these.
pub(super) fn gates(entry: &YamlEntry) -> Result<Vec<Gate>, Problem> {
    Gate::read_all(&json(&entry.value.value))
        .map_err(|why| Problem::at(entry.value.position, format!("\"{}\" {why}", entry.key)))
}

/// Reads MCP servers: names of the user's, or servers by their names.
pub(super) fn servers(entry: &YamlEntry) -> Result<Vec<McpServer>, Problem> {
    read_servers(&json(&entry.value.value))
        .map_err(|why| Problem::at(entry.value.position, format!("\"{}\" {why}", entry.key)))
}

/// Returns a value as JSON; a number that JSON does not know stays as it was written.
pub(super) fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => {
            serde_json::from_str(number).unwrap_or_else(|_| number.as_str().into())
        }
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(|item| json(&item.value)).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.clone(), json(&entry.value.value)))
            .collect(),
    }
}

fn wrong(entry: &YamlEntry, found: &Node, rule: &str) -> Problem {
    let shown = shown(found);
    let hint = match &found.value {
        Value::Bool(_) if rule == "must be text" => "; put it in quotes if it is text",
        _ => "",
    };
    Problem::at(
        found.position,
        format!("\"{}\" {rule}, not {shown}{hint}", entry.key),
    )
}

fn shown(found: &Node) -> String {
    match &found.value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Number(number) => number.clone(),
        other => other.kind().to_owned(),
    }
}
