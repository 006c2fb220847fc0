//! `write`: a whole file, with the directories above it.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use serde::Deserialize;

use serde_json::json;

use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, diff, paths};
use crate::abort::Aborted;

/// The size of the largest text that is compared with another, in bytes.
const LARGEST_COMPARED: u64 = 512 << 10;

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
    let kind = fs::metadata(&path).map(|there| there.file_type());
    if kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) {
        // Perhaps nobody ever reads from it, and then the write would never return.
        let shown = path.display();
        return Err(ToolError::new(format!("Not a regular file: {shown}")));
    }
    // A file that is no text, or large, has no patch, nor has a pipe or a device.
    let before = match fs::metadata(&path) {
        Ok(there) if !there.is_file() || there.len() > LARGEST_COMPARED => None,
        Ok(_) => fs::read_to_string(&path).ok(),
        Err(_) => Some(String::new()),
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)
            .map_err(|error| paths::failure(&error, "mkdir", directory))?;
    }
    fs::write(&path, &arguments.content).map_err(|error| paths::failure(&error, "open", &path))?;
    let wrote = ToolOutput::text(format!("Successfully wrote to {}", arguments.path));
    let before = before.filter(|_| arguments.content.len() as u64 <= LARGEST_COMPARED);
    Ok(match before {
        Some(before) => {
            let change = diff::compare(&arguments.path, &before, &arguments.content);
            wrote.with_details(json!({"patch": change.patch}))
        }
        None => wrote,
    })
}
