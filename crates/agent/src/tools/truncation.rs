//! Cuts a text to the length that a model gets, and records the missing part.

use serde::Serialize;

/// The largest number of lines in one result.
pub(super) const MAX_LINES: usize = 2000;
/// The largest number of bytes in one result.
pub(super) const MAX_BYTES: usize = 50 * 1024;
/// Stands for "no limit of lines"; pi writes JavaScript's largest safe integer.
pub(super) const ANY_NUMBER_OF_LINES: usize = 9_007_199_254_740_991;

/// The part of a text that was cut, in the shape of pi's `details.truncation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Truncation {
    pub(super) content: String,
    pub(super) truncated: bool,
    pub(super) truncated_by: Option<Limit>,
    pub(super) total_lines: usize,
    pub(super) total_bytes: usize,
    pub(super) output_lines: usize,
    pub(super) output_bytes: usize,
    pub(super) last_line_partial: bool,
    pub(super) first_line_exceeds_limit: bool,
    pub(super) max_lines: usize,
    pub(super) max_bytes: usize,
}

/// The limit that was hit first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Limit {
    Lines,
    Bytes,
}

impl Truncation {
    /// Returns the content as a text from which nothing was cut.
    pub(super) fn none(content: String, total_lines: usize, max_lines: usize) -> Self {
        let bytes = content.len();
        Self {
            content,
            truncated: false,
            truncated_by: None,
            total_lines,
            total_bytes: bytes,
            output_lines: total_lines,
            output_bytes: bytes,
            last_line_partial: false,
            first_line_exceeds_limit: false,
            max_lines,
            max_bytes: MAX_BYTES,
        }
    }
}

/// Keeps the first whole lines that fit into [`MAX_BYTES`]. The text has no final newline.
pub(super) fn keep_head(text: String) -> Truncation {
    let total_lines = if text.is_empty() {
        0
    } else {
        text.split('\n').count()
    };
    if text.len() <= MAX_BYTES {
        return Truncation::none(text, total_lines, ANY_NUMBER_OF_LINES);
    }
    // A newline right after the last byte still leaves the line before it whole.
    let window = &text.as_bytes()[..=MAX_BYTES];
    let end = window.iter().rposition(|byte| *byte == b'\n');
    let content = text[..end.unwrap_or(0)].to_owned();
    let output_lines = end.map_or(0, |_| content.split('\n').count());
    Truncation {
        truncated: true,
        truncated_by: Some(Limit::Bytes),
        total_bytes: text.len(),
        total_lines,
        output_lines,
        first_line_exceeds_limit: end.is_none(),
        ..Truncation::none(content, output_lines, ANY_NUMBER_OF_LINES)
    }
}

/// Writes a size as `512B`, `50.0KB` or `1.5MB`.
pub(super) fn readable_size(bytes: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let size = bytes as f64;
    if bytes < 1024 {
        format!("{bytes}B")
    } else if bytes < 1024 * 1024 {
        format!("{:.1}KB", size / 1024.0)
    } else {
        format!("{:.1}MB", size / (1024.0 * 1024.0))
    }
}
