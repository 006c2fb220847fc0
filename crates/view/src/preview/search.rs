//! Previews of the tools that look for files and text, and of their findings.

use pi_subagents_vocabulary::text;

use super::arguments::Arguments;
use super::files::PATH;
use super::path::shorten;
use super::{PreviewContext, Sentence};
use crate::{Line, Role};

/// Shows `ls → path`.
pub(super) fn ls(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let path = arguments.optional_text(PATH).unwrap_or(".".into());
    Sentence::new("ls").about(&shorten(&path, context))
}

/// Shows `find → pattern in path`.
pub(super) fn find(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let pattern = arguments.text(&["pattern"]);
    let sentence = Sentence::new("find");
    match arguments.optional_text(PATH) {
        Some(path) => sentence.about(&format!("{pattern} in {}", shorten(&path, context))),
        None => sentence.about(&pattern),
    }
}

/// Shows `grep → /pattern/ → glob-or-path`.
pub(super) fn grep(arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let pattern = format!("/{}/", arguments.text(&["pattern"]));
    let place = match arguments.optional_text(&["glob"]) {
        Some(glob) => Some(glob.into_owned()),
        None => arguments
            .optional_text(PATH)
            .map(|path| shorten(&path, context).into_owned()),
    };
    let sentence = Sentence::new("grep");
    match place {
        Some(place) => sentence.about(&format!("{pattern} → {place}")),
        None => sentence.about(&pattern),
    }
}

/// Shows `  2 files, 1 dir`, with a `+` where the tool left some out.
pub(super) fn ls_summary(result: &str) -> Line {
    let found = Found::in_result(result, "(empty directory)");
    let dirs = found
        .names
        .iter()
        .filter(|name| name.ends_with('/'))
        .count();
    let files = found.names.len() - dirs;
    if found.names.is_empty() {
        return Line::new(Role::Muted, "  (empty)");
    }
    let counts: Vec<String> = [(files, "file"), (dirs, "dir")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| text::count(number, noun))
        .collect();
    Line::new(
        Role::Added,
        &format!("  {}{}", counts.join(", "), found.plus()),
    )
}

/// Shows `  3 matches`, with a `+` where the tool left some out.
pub(super) fn find_summary(result: &str) -> Line {
    let found = Found::in_result(result, "No files found matching pattern");
    let noun = if found.names.len() == 1 {
        "match"
    } else {
        "matches"
    };
    let counts = format!("  {} {noun}{}", found.names.len(), found.plus());
    Line::new(Role::Added, &counts)
}

struct Found<'a> {
    names: Vec<&'a str>,
    has_more: bool,
}

impl<'a> Found<'a> {
    /// Reads a result with one name per line. A tool that left out some names says so in brackets
    /// in the last line.
    fn in_result(result: &'a str, nothing: &str) -> Self {
        let mut names: Vec<&str> = result
            .lines()
            .filter(|line| !line.trim().is_empty() && *line != nothing)
            .collect();
        let has_more = names.last().is_some_and(|line| is_notice(line));
        if has_more {
            names.pop();
        }
        Self { names, has_more }
    }

    fn plus(&self) -> &'static str {
        if self.has_more { "+" } else { "" }
    }
}

fn is_notice(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && line.contains("limit reached")
}
