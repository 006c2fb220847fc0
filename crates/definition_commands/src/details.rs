//! A definition on a page: a line for each field, and the body below.

use pi_subagents_vocabulary::{BodyUse, Definition, Field};

use super::fields;

/// Returns a page with all fields of a definition; `file` is the path to show.
pub(super) fn page(definition: &Definition, file: &str) -> String {
    let mut rows = vec![
        ("name", definition.name.clone()),
        ("format", definition.dialect.as_str().to_owned()),
        ("scope", definition.scope.as_str().to_owned()),
        ("file", file.to_owned()),
    ];
    rows.extend(set_fields(definition));
    let width = rows.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let mut lines: Vec<String> = rows
        .iter()
        .map(|(key, value)| row(key, value, width))
        .collect();
    if let Some(body) = &definition.body {
        lines.push(String::new());
        lines.push(heading(definition.dialect.body_use()).to_owned());
        lines.extend(body.lines().map(indented));
    }
    lines.join("\n")
}

/// Returns whether a definition has nothing but a name.
pub(super) fn is_empty(definition: &Definition) -> bool {
    definition.body.is_none() && set_fields(definition).next().is_none()
}

/// Returns the fields that are set, each with its text.
fn set_fields(definition: &Definition) -> impl Iterator<Item = (&'static str, String)> {
    let written = Field::of_frontmatter().filter(|field| *field != Field::Name);
    written.filter_map(|field| Some((definition.key(field), fields::text(definition, field)?)))
}

/// Returns the row of a key; further lines of the value are below the first.
fn row(key: &str, value: &str, width: usize) -> String {
    let mut lines = value.lines();
    let first = lines.next().unwrap_or_default();
    let first = format!("{key:width$}  {first}");
    let further = lines.map(|line| format!("{:width$}  {line}", ""));
    let rows: Vec<String> = std::iter::once(first).chain(further).collect();
    rows.join("\n")
}

fn heading(body_use: BodyUse) -> &'static str {
    match body_use {
        BodyUse::Replace => "System prompt, in place of the child's own:",
        BodyUse::Append => "Text after the child's own system prompt:",
    }
}

fn indented(line: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("  {line}")
    }
}
