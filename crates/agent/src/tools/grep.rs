//! `grep`: lines that match, searched with ripgrep's own parts.

use std::io;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::OverrideBuilder;
use serde::Deserialize;

use super::tree::{self, Listing};
use super::truncation::{MAX_BYTES, MAX_LINES};
use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, read, truncation};
use crate::abort::Aborted;

const DEFAULT_LIMIT: usize = 100;
const MAX_LINE_CHARACTERS: usize = 500;

/// The search ends when it holds more than this number of bytes of lines.
const MOST_BYTES: usize = 64 * MAX_BYTES;
/// A line longer than this ends the search of its file; such files are data, not text.
const MAX_HELD_BYTES: usize = 16 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    literal: bool,
    context: Option<f64>,
    limit: Option<f64>,
}

pub(super) fn run(
    arguments: &Arguments,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
) -> ToolResult {
    let root = tree::root(arguments.path.as_deref(), surroundings)?;
    let matcher = matcher(arguments)?;
    let mut walk = tree::walk(&root);
    if let Some(glob) = &arguments.glob {
        walk.overrides(only(glob, &root)?);
    }
    let context = arguments.context.map_or(0, read::whole).min(MAX_LINES);
    let mut searcher = searcher(context);
    let limit = arguments.limit.map_or(DEFAULT_LIMIT, read::whole).max(1);
    let mut found = Found::new(limit);
    for entry in walk.build().flatten() {
        if aborted.is_raised() {
            return Err(ToolError::aborted());
        }
        if found.is_full() || found.is_large() {
            break;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            found.enter(&root, entry.path());
            // A file that cannot be read is skipped, as ripgrep does.
            let _ = searcher.search_path(&matcher, entry.path(), &mut found);
        }
    }
    Ok(found.into_output())
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(arguments.ignore_case)
        .fixed_strings(arguments.literal)
        .line_terminator(Some(b'\n'))
        .build(&arguments.pattern)
        .map_err(|error| ToolError::new(error.to_string()))
}

fn only(glob: &str, root: &Path) -> Result<ignore::overrides::Override, ToolError> {
    OverrideBuilder::new(root)
        .add(glob)
        .and_then(|builder| builder.build())
        .map_err(|error| ToolError::new(error.to_string()))
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HELD_BYTES))
        .build()
}

/// The lines found so far.
struct Found {
    limit: usize,
    matches: usize,
    lines: Vec<String>,
    /// The number of bytes of these lines.
    bytes: usize,
    some_cut: bool,
    /// The file being searched, as it is shown.
    file: String,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            matches: 0,
            lines: Vec::new(),
            bytes: 0,
            some_cut: false,
            file: String::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.matches >= self.limit
    }

    /// Returns whether there are so many lines that no more of them are held: the answer shows only
    /// the first of them.
    fn is_large(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    fn enter(&mut self, root: &Path, path: &Path) {
        let relative = match path.strip_prefix(root) {
            Ok(relative) if relative != Path::new("") => relative,
            _ => Path::new(path.file_name().unwrap_or_default()),
        };
        self.file = relative.display().to_string();
    }

    fn add(&mut self, bytes: &[u8], number: Option<u64>, separator: char) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\n').replace('\r', "");
        let (file, number) = (&self.file, number.unwrap_or_default());
        let mut characters = text.char_indices();
        let line = match characters.nth(MAX_LINE_CHARACTERS) {
            Some((end, _)) => {
                self.some_cut = true;
                format!(
                    "{file}{separator}{number}{separator} {}... [truncated]",
                    &text[..end]
                )
            }
            None => format!("{file}{separator}{number}{separator} {text}"),
        };
        self.bytes += line.len();
        self.lines.push(line);
    }

    fn into_output(self) -> ToolOutput {
        if self.matches == 0 {
            return ToolOutput::text("No matches found");
        }
        let (limit, is_full) = (self.limit, self.is_full());
        let mut listing = Listing::new(truncation::keep_head(self.lines.join("\n")));
        if is_full {
            let advice = format!(
                "{limit} matches limit reached. Use limit={} for more, or refine pattern",
                limit * 2
            );
            listing = listing.limited("matchLimitReached", limit, advice);
        }
        if self.some_cut {
            let notice = format!(
                "Some lines truncated to {MAX_LINE_CHARACTERS} chars. Use read tool to see full lines"
            );
            listing = listing.noted("linesTruncated", notice);
        }
        listing.into_output()
    }
}

impl Sink for &mut Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.is_full() {
            return Ok(false);
        }
        self.matches += 1;
        self.add(found.bytes(), found.line_number(), ':');
        Ok(!self.is_large())
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        self.add(line.bytes(), line.line_number(), '-');
        Ok(!self.is_large())
    }
}
