//! Previews of the tools that read and write files.

use pi_subagents_delegation::text::{self, CUT_MARK};
use serde_json::Value;

use super::arguments::Arguments;
use super::path::shorten;
use super::{PreviewContext, Sentence};
use crate::Role;

pub(super) const PATH: &[&str] = &["path", "file_path", "filePath", "file"];

/// So many files are named before the rest is counted.
const NAMED_FILES: usize = 3;

/// Shows `read → path:offset+limit (L lines)`.
pub(super) fn read(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let path = arguments.text(PATH);
    let offset = arguments.optional_number(&["offset"]);
    let limit = arguments.optional_number(&["limit"]);
    let range = match (&offset, &limit) {
        (None, None) => String::new(),
        (Some(offset), None) => format!(":{offset}"),
        (None, Some(limit)) => format!(":1+{limit}"),
        (Some(offset), Some(limit)) => format!(":{offset}+{limit}"),
    };
    let sentence = Sentence::new("read")
        .about(&shorten(&path, context))
        .count(Role::Muted, &range);
    match limit {
        Some(limit) => {
            let noun = if limit == "1" { "line" } else { "lines" };
            sentence.count(Role::Added, &format!(" ({limit} {noun})"))
        }
        None => sentence,
    }
}

/// Shows `write → path +L`.
pub(super) fn write(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let lines = arguments.whole_text(&["content"]).map_or_else(
        || CUT_MARK.to_owned(),
        |content| non_empty_lines(content).to_string(),
    );
    Sentence::new("write")
        .about(&shorten(&arguments.text(PATH), context))
        .count(Role::Added, &format!(" +{lines}"))
}

/// Shows `edit → path (N edits) +A/-R`.
pub(super) fn edit(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let sentence = Sentence::new("edit").about(&shorten(&arguments.text(PATH), context));
    let edits: Vec<Edit> = match arguments.get(&["edits"]) {
        Some(Value::Array(edits)) => edits.iter().map(Edit::new).collect(),
        // Before it took a list, the tool took one edit.
        None if arguments.get(OLD_TEXT).is_some() => vec![Edit::new(arguments.value())],
        Some(_) | None => {
            return sentence.count(Role::Muted, &format!(" ({CUT_MARK} edits)"));
        }
    };
    let added: usize = edits.iter().map(|edit| edit.added).sum();
    let removed: usize = edits.iter().map(|edit| edit.removed).sum();
    sentence
        .count(
            Role::Muted,
            &format!(" ({}) ", text::count(edits.len(), "edit")),
        )
        .count(Role::Added, &format!("+{added}"))
        .count(Role::Muted, "/")
        .count(Role::Removed, &format!("-{removed}"))
}

/// Shows `lint → files... +N more`, or `lint → (all)`.
pub(super) fn lint(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let files = arguments.list(&["files", "paths"]).unwrap_or_default();
    if files.is_empty() {
        return Sentence::new("lint").about("(all)");
    }
    let named: Vec<_> = files
        .iter()
        .take(NAMED_FILES)
        .map(|file| shorten(file, context))
        .collect();
    let sentence = Sentence::new("lint").about(&named.join(", "));
    match files.len() - named.len() {
        0 => sentence,
        more => sentence.count(Role::Muted, &format!(" +{more} more")),
    }
}

const OLD_TEXT: &[&str] = &["oldText", "old_text", "old_string"];
const NEW_TEXT: &[&str] = &["newText", "new_text", "new_string"];

struct Edit {
    added: usize,
    removed: usize,
}

impl Edit {
    fn new(edit: &Value) -> Self {
        let lines = |names| {
            let text = Arguments::new(edit).whole_text(names);
            text.map_or(0, non_empty_lines)
        };
        Self {
            added: lines(NEW_TEXT),
            removed: lines(OLD_TEXT),
        }
    }
}

fn non_empty_lines(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}
