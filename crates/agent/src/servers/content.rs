//! The answer of a server as the result of a tool. It is bounded like that of a shell command: the
//! model gets so much of a long text, and the whole text is a file of the run.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::json;

use crate::message::Block;
use crate::tools::{ToolError, ToolOutput, ToolSurroundings, bounded_text};

/// The longest image, as it is sent.
const LONGEST_IMAGE: usize = 8 << 20;
/// The most images of one answer.
const MOST_IMAGES: usize = 8;

/// Stands for a kind of content that a newer version of the protocol has.
const UNKNOWN: &str = "[something that cannot be shown is left out]";

/// Returns the result that the model gets.
pub(super) fn tool_output(
    result: CallToolResult,
    surroundings: &ToolSurroundings,
) -> Result<ToolOutput, ToolError> {
    let is_error = result.is_error == Some(true);
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for block in result.content {
        match block {
            ContentBlock::Image(image) if images.len() < MOST_IMAGES => {
                if surroundings.model.sees_images && image.data.len() <= LONGEST_IMAGE {
                    images.push(Block::Image {
                        data: image.data,
                        mime_type: image.mime_type,
                    });
                } else {
                    texts.push(left_out("an image", image.data.len()));
                }
            }
            block => texts.push(text_of(block)),
        }
    }
    if texts.is_empty() && images.is_empty() {
        texts.extend(result.structured_content.map(|value| value.to_string()));
    }
    let text = texts.join("\n");
    let text = if text.is_empty() && images.is_empty() {
        "(no output)"
    } else {
        &text
    };
    let (text, details) = bounded_text(text, surroundings);
    if is_error {
        return Err(ToolError::new(text));
    }
    let mut output = ToolOutput::text(text).with_details(details.unwrap_or_else(|| json!({})));
    output.content.extend(images);
    Ok(output)
}

fn text_of(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => left_out("an image", image.data.len()),
        ContentBlock::Audio(audio) => left_out("a sound", audio.data.len()),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                format!("{uri}: {}", left_out("a file", blob.len()))
            }
            _ => UNKNOWN.to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("{}: {}", link.name, link.uri),
        _ => UNKNOWN.to_owned(),
    }
}

fn left_out(what: &str, bytes: usize) -> String {
    format!("[{what} of {bytes} bytes is left out]")
}
