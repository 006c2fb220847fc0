//! The parts that `ls`, `find` and `grep` share: the walk over files and the shape of their answers.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use serde_json::{Map, Value, json};

use super::truncation::{MAX_BYTES, Truncation, readable_size};
use super::{ToolError, ToolOutput, ToolSurroundings, paths};

/// Returns the place to look at: the path in the call, else the working directory.
pub(super) fn root(
    path: Option<&str>,
    surroundings: &ToolSurroundings,
) -> Result<PathBuf, ToolError> {
    let root = paths::resolve(path.unwrap_or("."), surroundings);
    if root.exists() {
        Ok(root)
    } else {
        let missing = root.display();
        Err(ToolError::new(format!("Path not found: {missing}")))
    }
}

/// Walks everything below `root` in the order of the paths: hidden files too, ignored ones
/// not, and never the inside of `.git`.
pub(super) fn walk(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        // Outside a repository .gitignore files are honoured as well.
        .require_git(root.ancestors().any(|above| above.join(".git").exists()))
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp);
    builder
}

/// A list with a notice about its missing part.
pub(super) struct Listing {
    text: String,
    notices: Vec<String>,
    details: Map<String, Value>,
    cut: Option<Truncation>,
}

impl Listing {
    pub(super) fn new(truncation: Truncation) -> Self {
        Self {
            text: truncation.content.clone(),
            notices: Vec::new(),
            details: Map::new(),
            cut: truncation.truncated.then_some(truncation),
        }
    }

    /// Adds the notice that a limit was reached, with advice.
    pub(super) fn limited(mut self, detail: &str, limit: usize, advice: String) -> Self {
        self.details.insert(detail.to_owned(), json!(limit));
        self.notices.push(advice);
        self
    }

    /// Says that something else was cut.
    pub(super) fn noted(mut self, detail: &str, notice: String) -> Self {
        self = self.with_size_notice();
        self.details.insert(detail.to_owned(), json!(true));
        self.notices.push(notice);
        self
    }

    /// Returns the answer, with all notices in one line at the end.
    pub(super) fn into_output(self) -> ToolOutput {
        let mut listing = self.with_size_notice();
        if !listing.notices.is_empty() {
            listing
                .text
                .extend(["\n\n[", &listing.notices.join(". "), "]"]);
        }
        let output = ToolOutput::text(listing.text);
        if listing.details.is_empty() {
            output
        } else {
            output.with_details(Value::Object(listing.details))
        }
    }

    fn with_size_notice(mut self) -> Self {
        if let Some(truncation) = self.cut.take() {
            self.notices
                .push(format!("{} limit reached", readable_size(MAX_BYTES)));
            self.details
                .insert("truncation".to_owned(), json!(truncation));
        }
        self
    }
}
