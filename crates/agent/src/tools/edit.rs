//! `edit`: several exact replacements in one file; line ends and BOM are kept.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::replacements::{self, Fault, Replacement};
use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, diff, paths};
use crate::abort::Aborted;

const BOM: &str = "\u{feff}";

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edit {
    old_text: String,
    new_text: String,
}

/// Accepts the forms that models send in place of a list of edits: one edit, a JSON text of either,
/// or `oldText` and `newText` beside the path.
pub(super) fn tidy_arguments(mut arguments: Value) -> Value {
    let Some(fields) = arguments.as_object_mut() else {
        return arguments;
    };
    if let Some(Value::String(text)) = fields.get("edits")
        && let Ok(parsed @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text)
    {
        fields.insert("edits".to_owned(), parsed);
    }
    if fields.get("oldText").is_some_and(Value::is_string)
        && fields.get("newText").is_some_and(Value::is_string)
    {
        let edit =
            json!({"oldText": fields.remove("oldText"), "newText": fields.remove("newText")});
        match fields.get_mut("edits").and_then(Value::as_array_mut) {
            Some(edits) => edits.push(edit),
            None => {
                fields.insert("edits".to_owned(), json!([edit]));
            }
        }
    }
    arguments
}

#[expect(
    clippy::disallowed_methods,
    reason = "a tool opens what its model names, as the user may"
)]
pub(super) fn run(
    arguments: &Arguments,
    surroundings: &ToolSurroundings,
    _aborted: &Aborted,
) -> ToolResult {
    let count = arguments.edits.len();
    if count == 0 {
        return Err(ToolError::new(
            "Edit tool input is invalid. edits must contain at least one replacement.",
        ));
    }
    let path = paths::resolve(&arguments.path, surroundings);
    surroundings.guarded.check(&path)?;
    let original = load(&path, &arguments.path)?;
    let (bom, body) = match original.strip_prefix(BOM) {
        Some(body) => (BOM, body),
        None => ("", original.as_str()),
    };
    let old = with_line_feeds(body);
    let replacements: Vec<Replacement> = arguments.edits.iter().map(replacement).collect();
    let new = replacements::apply(&old, &replacements)
        .map_err(|fault| explain(&fault, &arguments.path, count))?;
    let ended = if uses_crlf(body) {
        new.replace('\n', "\r\n")
    } else {
        new.clone()
    };
    fs::write(&path, format!("{bom}{ended}"))
        .map_err(|error| paths::failure(&error, "open", &path))?;
    Ok(report(&arguments.path, count, &old, &new))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a tool opens what its model names, as the user may"
)]
fn load(path: &Path, shown: &str) -> Result<String, ToolError> {
    let refuse = |why: String| ToolError::new(format!("Could not edit file: {shown}. {why}."));
    // A pipe or a device could keep us reading for ever. A directory has an error of its own.
    let is_endless = |there: fs::Metadata| !there.is_file() && !there.is_dir();
    if path.metadata().is_ok_and(is_endless) {
        return Err(refuse("It is not a regular file".to_owned()));
    }
    let bytes = fs::read(path)
        .map_err(|error| refuse(format!("Error code: {}", paths::code_name(&error))))?;
    // Writing back a lossy text would destroy the bytes that are not UTF-8.
    String::from_utf8(bytes).map_err(|_| refuse("The file is not UTF-8 text".to_owned()))
}

fn replacement(edit: &Edit) -> Replacement {
    Replacement {
        old: with_line_feeds(&edit.old_text),
        new: with_line_feeds(&edit.new_text),
    }
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn uses_crlf(text: &str) -> bool {
    text.find('\n').is_some_and(|at| text[..at].ends_with('\r'))
}

fn report(path: &str, count: usize, old: &str, new: &str) -> ToolOutput {
    let change = diff::compare(path, old, new);
    let details = json!({
        "diff": change.numbered,
        "patch": change.patch,
        "firstChangedLine": change.first_line,
    });
    ToolOutput::text(format!("Successfully replaced {count} block(s) in {path}."))
        .with_details(details)
}

fn explain(fault: &Fault, path: &str, count: usize) -> ToolError {
    let single = count == 1;
    ToolError::new(match fault {
        Fault::Empty(_) if single => format!("oldText must not be empty in {path}."),
        Fault::Empty(number) => format!("edits[{number}].oldText must not be empty in {path}."),
        Fault::NotFound(_) if single => format!(
            "Could not find the exact text in {path}. The old text must match exactly including all whitespace and newlines."
        ),
        Fault::NotFound(number) => format!(
            "Could not find edits[{number}] in {path}. The oldText must match exactly including all whitespace and newlines."
        ),
        Fault::NotUnique(_, found) if single => format!(
            "Found {found} occurrences of the text in {path}. The text must be unique. Please provide more context to make it unique."
        ),
        Fault::NotUnique(number, found) => format!(
            "Found {found} occurrences of edits[{number}] in {path}. Each oldText must be unique. Please provide more context to make it unique."
        ),
        Fault::Overlap(one, other) => format!(
            "edits[{one}] and edits[{other}] overlap in {path}. Merge them into one edit or target disjoint regions."
        ),
        Fault::NothingChanged if single => format!(
            "No changes made to {path}. The replacement produced identical content. This might indicate an issue with special characters or the text not existing as expected."
        ),
        Fault::NothingChanged => {
            format!("No changes made to {path}. The replacements produced identical content.")
        }
    })
}
