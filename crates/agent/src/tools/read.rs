//! `read`: text by lines, images as attachments.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pi_subagents_os::keeps_readers_waiting;
use serde::Deserialize;
use serde_json::json;

use super::line_window::{self, LineWindow};
use super::truncation::{Limit, MAX_BYTES, readable_size};
use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, image, paths};
use crate::abort::Aborted;
use crate::message::Block;

/// Providers refuse larger images, and a line of the protocol must stay readable.
const MAX_IMAGE_BYTES: u64 = 10 * 1024 * 1024;

/// Larger files are not read: their lines would have to be counted. Pi reads none either.
const LARGEST_FILE: u64 = 2 << 30;

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: String,
    offset: Option<f64>,
    limit: Option<f64>,
}

pub(super) fn run(
    arguments: &Arguments,
    surroundings: &ToolSurroundings,
    _aborted: &Aborted,
) -> ToolResult {
    let path = paths::resolve(&arguments.path, surroundings);
    let mut file = open(&path)?;
    let mut head = [0; 16];
    let known =
        read_head(&mut file, &mut head).map_err(|error| paths::failure(&error, "read", &path))?;
    file.rewind()
        .map_err(|error| paths::failure(&error, "read", &path))?;
    match image::mime_type(&head[..known]) {
        Some(mime_type) => attach(&mut file, mime_type, surroundings, &path),
        None => show(&mut file, arguments, &path),
    }
}

/// Opens a regular file; a pipe or a device could keep us reading for ever.
#[expect(
    clippy::disallowed_methods,
    reason = "a tool opens what its model names, as the user may"
)]
fn open(path: &Path) -> Result<File, ToolError> {
    let metadata = path
        .metadata()
        .map_err(|error| paths::failure(&error, "access", path))?;
    if metadata.is_dir() {
        return Err(ToolError::new(
            "EISDIR: illegal operation on a directory, read",
        ));
    }
    if metadata.len() > LARGEST_FILE {
        let (size, path) = (metadata.len(), path.display());
        return Err(ToolError::new(format!(
            "File is {size} bytes, more than the {LARGEST_FILE} that can be read. Use bash: sed -n '1,200p;200q' {path} | head -c {MAX_BYTES}"
        )));
    }
    if !metadata.is_file() || keeps_readers_waiting(path) {
        return Err(ToolError::new(format!(
            "Not a regular file: {}",
            path.display()
        )));
    }
    File::open(path).map_err(|error| paths::failure(&error, "access", path))
}

fn read_head(file: &mut File, head: &mut [u8]) -> std::io::Result<usize> {
    let mut known = 0;
    while known < head.len() {
        match file.read(&mut head[known..])? {
            0 => break,
            length => known += length,
        }
    }
    Ok(known)
}

fn attach(
    file: &mut File,
    mime_type: &str,
    surroundings: &ToolSurroundings,
    path: &Path,
) -> ToolResult {
    let mut note = format!("Read image file [{mime_type}]");
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut blocks = Vec::new();
    if size > MAX_IMAGE_BYTES {
        note.push_str("\n[Image is larger than 10MB and was left out.]");
    } else {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| paths::failure(&error, "read", path))?;
        blocks.push(Block::Image {
            data: STANDARD.encode(bytes),
            mime_type: mime_type.to_owned(),
        });
    }
    if !surroundings.model.sees_images {
        note.push_str(
            "\n[Current model does not support images. The image will be omitted from this request.]",
        );
    }
    blocks.insert(0, Block::text(note));
    Ok(ToolOutput {
        content: blocks,
        details: None,
        terminate: false,
    })
}

fn show(file: &mut File, arguments: &Arguments, path: &Path) -> ToolResult {
    let start = arguments.offset.map_or(0, |offset| whole(offset - 1.0));
    let window = line_window::read(file, start, arguments.limit.map(whole))
        .map_err(|error| paths::failure(&error, "read", path))?;
    if start >= window.file_lines {
        return Err(ToolError::new(format!(
            "Offset {} is beyond end of file ({} lines total)",
            arguments.offset.unwrap_or_default(),
            window.file_lines
        )));
    }
    let text = describe(&window, start, arguments);
    let output = ToolOutput::text(text);
    Ok(if window.truncation.truncated {
        output.with_details(json!({"truncation": window.truncation}))
    } else {
        output
    })
}

/// Returns the lines, with advice on getting the missing ones.
fn describe(window: &LineWindow, start: usize, arguments: &Arguments) -> String {
    let cut = &window.truncation;
    let (first, total) = (start + 1, window.file_lines);
    if cut.first_line_exceeds_limit {
        return format!(
            "[Line {first} is {}, exceeds {} limit. Use bash: sed -n '{first}p' {} | head -c {MAX_BYTES}]",
            readable_size(window.first_line_bytes),
            readable_size(MAX_BYTES),
            arguments.path,
        );
    }
    let last = start + cut.output_lines;
    match cut.truncated_by {
        Some(Limit::Lines) => format!(
            "{}\n\n[Showing lines {first}-{last} of {total}. Use offset={} to continue.]",
            cut.content,
            last + 1
        ),
        Some(Limit::Bytes) => format!(
            "{}\n\n[Showing lines {first}-{last} of {total} ({} limit). Use offset={} to continue.]",
            cut.content,
            readable_size(MAX_BYTES),
            last + 1
        ),
        None => match arguments
            .limit
            .map(|limit| start.saturating_add(whole(limit)))
        {
            Some(end) if end < total => format!(
                "{}\n\n[{} more lines in file. Use offset={} to continue.]",
                cut.content,
                total - end,
                end + 1
            ),
            _ => cut.content.clone(),
        },
    }
}

/// Returns a JSON number as a count; a negative number is zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is what a count needs"
)]
pub(super) fn whole(number: f64) -> usize {
    number as usize
}
