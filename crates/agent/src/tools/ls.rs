//! `ls`: the entries of a directory, directories marked with a slash.

use std::fs;

use serde::Deserialize;

use super::tree::{self, Listing};
use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, read, truncation};
use crate::abort::Aborted;

const DEFAULT_LIMIT: usize = 500;

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: Option<String>,
    limit: Option<f64>,
}

pub(super) fn run(
    arguments: &Arguments,
    surroundings: &ToolSurroundings,
    _aborted: &Aborted,
) -> ToolResult {
    let directory = tree::root(arguments.path.as_deref(), surroundings)?;
    let limit = arguments.limit.map_or(DEFAULT_LIMIT, read::whole);
    if !directory.is_dir() {
        return Err(ToolError::new(format!(
            "Not a directory: {}",
            directory.display()
        )));
    }
    let entries = fs::read_dir(&directory)
        .map_err(|error| ToolError::new(format!("Cannot read directory: {error}")))?;
    let mut names: Vec<String> = entries
        .flatten()
        // Follows links, and skips entries that cannot be looked at, as pi does.
        .filter_map(|entry| {
            let is_directory = entry.path().metadata().ok()?.is_dir();
            let name = entry.file_name().to_string_lossy().into_owned();
            Some(if is_directory { name + "/" } else { name })
        })
        .collect();
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    Ok(show(names, limit))
}

fn show(mut names: Vec<String>, limit: usize) -> ToolOutput {
    let is_cut = names.len() > limit;
    names.truncate(limit);
    if names.is_empty() {
        return ToolOutput::text("(empty directory)");
    }
    let mut listing = Listing::new(truncation::keep_head(names.join("\n")));
    if is_cut {
        let advice = format!(
            "{limit} entries limit reached. Use limit={} for more",
            limit * 2
        );
        listing = listing.limited("entryLimitReached", limit, advice);
    }
    listing.into_output()
}
