//! `write`: a whole file, with the directories above it.

use std::fs;

use serde::Deserialize;

use super::{ToolOutput, ToolResult, ToolSurroundings, paths};
use crate::abort::Aborted;

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: String,
    content: String,
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
    let path = paths::resolve(&arguments.path, surroundings);
    surroundings.guarded.check(&path)?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)
            .map_err(|error| paths::failure(&error, "mkdir", directory))?;
    }
    fs::write(&path, &arguments.content).map_err(|error| paths::failure(&error, "open", &path))?;
    Ok(ToolOutput::text(format!(
        "Successfully wrote to {}",
        arguments.path
    )))
}
