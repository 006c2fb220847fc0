//! The items of a map that are known before its call begins: those that it names, files, or lines.

use std::path::{Component, Path};

use globset::GlobBuilder;
use ignore::WalkBuilder;
use pi_subagents_files::{open_own, read_bounded};
use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::{ForEach, MOST_ITEMS};
use serde_json::Value;

/// The largest file of which lines are items.
const LARGEST_LIST: u64 = 4 << 20;

/// The number of files that are looked at for a pattern.
const MOST_FILES: usize = 500_000;

/// Returns the items of a map, which are at least one; `None` if they stand in a result.
pub(super) fn items_of(
    task: &str,
    each: &ForEach,
    cwd: &Path,
) -> Result<Option<Vec<Value>>, CommandError> {
    let (items, source) = match each {
        ForEach::Result(_) => return Ok(None),
        ForEach::Items(items) => (items.clone(), "the list is empty".to_owned()),
        ForEach::Files(pattern) => (
            files(task, pattern, cwd)?,
            format!("no file in {} matches {pattern}", cwd.display()),
        ),
        ForEach::Lines(file) => (
            lines(task, file, cwd)?,
            format!("{} has no line with text", file.display()),
        ),
    };
    if items.is_empty() {
        return Err(
            CommandError::usage(format!("forEach of {task} has nothing to do: {source}")).hint(
                "Write a list, {\"files\": \"src/**/*.rs\"} or {\"lines\": \"list.txt\"} that has items.",
            ),
        );
    }
    Ok(Some(items))
}

/// Returns the paths of the files that a pattern names, sorted, without those that git ignores.
fn files(task: &str, pattern: &str, cwd: &Path) -> Result<Vec<Value>, CommandError> {
    let unfit = |why: String| {
        CommandError::usage(format!(
            "forEach of {task} cannot use the pattern {pattern}: {why}"
        ))
        .hint("A pattern is relative to the directory of the task, such as src/**/*.rs.")
    };
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(pattern).components().all(is_inside) {
        return Err(unfit(
            "it leads out of the directory of the task".to_owned(),
        ));
    }
    let plain = pattern.trim_start_matches("./");
    let glob = GlobBuilder::new(plain).literal_separator(true).build();
    let glob = glob.map_err(|error| unfit(error.to_string()))?;
    let matcher = glob.compile_matcher();
    let entries = WalkBuilder::new(cwd).follow_links(false).build();
    let mut found = Vec::new();
    // A directory that cannot be read has no files.
    for entry in entries.flatten().take(MOST_FILES) {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let inside = entry.path().strip_prefix(cwd).ok();
        let inside = inside.filter(|path| is_file && matcher.is_match(path));
        found.extend(inside.and_then(Path::to_str).map(str::to_owned));
        if found.len() > MOST_ITEMS {
            break;
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(Value::String).collect())
}

/// Returns the lines of a file that have text.
fn lines(task: &str, file: &Path, cwd: &Path) -> Result<Vec<Value>, CommandError> {
    let path = cwd.join(file);
    let content = open_own(&path).and_then(|opened| read_bounded(&opened, LARGEST_LIST));
    let content = content.map_err(|error| {
        let file = path.display();
        CommandError::usage(format!("forEach of {task} could not read {file}"))
            .because(&error)
            .hint("Name a file of yours, such as {\"lines\": \"list.txt\"}, relative to the directory of the task.")
    })?;
    let content = String::from_utf8_lossy(&content);
    let lines = content
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    Ok(lines.map(Value::from).collect())
}
