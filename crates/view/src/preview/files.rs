//! Previews of the tools that read and write files.

use pi_subagents_vocabulary::text::{self, CUT_MARK};
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

/// Shows `edit → path (N edits)`. The numbers of added and removed lines are known only from the
/// result.
pub(super) fn edit(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let edits = match arguments.get(&["edits"]) {
        Some(Value::Array(edits)) => text::count(edits.len(), "edit"),
        // Before it took a list, the tool took one edit.
        None if arguments.get(OLD_TEXT).is_some() => text::count(1, "edit"),
        Some(_) | None => format!("{CUT_MARK} edits"),
    };
    Sentence::new("edit")
        .about(&shorten(&arguments.text(PATH), context))
        .count(Role::Muted, &format!(" ({edits})"))
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

fn non_empty_lines(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}
