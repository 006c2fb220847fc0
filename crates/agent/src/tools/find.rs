//! `find`: files by glob, in the order of their paths.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::DirEntry;
use serde::Deserialize;

use super::tree::{self, Listing};
use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, read, truncation};
use crate::abort::Aborted;

const DEFAULT_LIMIT: usize = 1000;

#[derive(Deserialize)]
pub(super) struct Arguments {
    pattern: String,
    path: Option<String>,
    limit: Option<f64>,
}

pub(super) fn run(
    arguments: &Arguments,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
) -> ToolResult {
    let root = tree::root(arguments.path.as_deref(), surroundings)?;
    let limit = arguments.limit.map_or(DEFAULT_LIMIT, read::whole);
    let pattern = Pattern::new(&arguments.pattern)?;
    let mut found = Vec::new();
    for entry in tree::walk(&root).build().flatten() {
        if aborted.is_raised() {
            return Err(ToolError::aborted());
        }
        if found.len() >= limit {
            break;
        }
        if entry.depth() > 0 && pattern.matches(&entry) {
            found.push(shown(&entry, &root));
        }
    }
    Ok(show(&found, limit))
}

/// A glob over names, or over whole paths when it has a slash.
struct Pattern {
    glob: GlobMatcher,
    whole_path: bool,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let whole_path = pattern.contains('/');
        let anchored = pattern.starts_with('/') || pattern.starts_with("**/");
        let effective = if whole_path && !anchored {
            format!("**/{pattern}")
        } else {
            pattern.to_owned()
        };
        let glob = GlobBuilder::new(&effective)
            .literal_separator(true)
            .build()
            .map_err(|error| ToolError::new(error.to_string()))?;
        Ok(Self {
            glob: glob.compile_matcher(),
            whole_path,
        })
    }

    fn matches(&self, entry: &DirEntry) -> bool {
        if self.whole_path {
            self.glob.is_match(entry.path())
        } else {
            self.glob.is_match(entry.file_name())
        }
    }
}

fn shown(entry: &DirEntry, root: &Path) -> String {
    let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let slash = if entry.file_type().is_some_and(|kind| kind.is_dir()) {
        "/"
    } else {
        ""
    };
    format!("{}{slash}", relative.display())
}

fn show(found: &[String], limit: usize) -> ToolOutput {
    if found.is_empty() {
        return ToolOutput::text("No files found matching pattern");
    }
    let mut listing = Listing::new(truncation::keep_head(found.join("\n")));
    if found.len() >= limit {
        let advice = format!(
            "{limit} results limit reached. Use limit={} for more, or refine pattern",
            limit * 2
        );
        listing = listing.limited("resultLimitReached", limit, advice);
    }
    listing.into_output()
}
