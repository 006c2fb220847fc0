//! Tools and answers as the protocol writes them.

use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ContentBlock, MetaObject, Resource, ResourceTemplate, Tool, ToolAnnotations,
};

use crate::tools::{
    CallAnswer, ResourceDescription, ResourceTemplateDescription, ToolDescription, ToolEffect,
};

/// The key under which a program finds the details of an answer. They are no structured content:
/// many clients give that to the model in place of the text.
const DETAILS: &str = "pi-subagents/details";

/// The media type of all resources.
const TEXT: &str = "text/plain";

pub(crate) fn listed(tool: ToolDescription) -> Tool {
    let annotations = annotations(tool.effect);
    Tool::new(tool.name, tool.description, Arc::new(tool.input_schema))
        .with_title(tool.title)
        .with_annotations(annotations)
}

pub(crate) fn listed_resource(resource: ResourceDescription) -> Resource {
    Resource::new(resource.uri, resource.name)
        .with_title(resource.title)
        .with_description(resource.description)
        .with_mime_type(TEXT)
}

pub(crate) fn listed_template(template: ResourceTemplateDescription) -> ResourceTemplate {
    ResourceTemplate::new(template.uri_template, template.name)
        .with_title(template.title)
        .with_description(template.description)
        .with_mime_type(TEXT)
}

/// Returns the hints about a tool. Each hint is given, because the protocol assumes the worst if
/// one is missing.
fn annotations(effect: ToolEffect) -> ToolAnnotations {
    match effect {
        ToolEffect::Reads => ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false),
        ToolEffect::Changes | ToolEffect::ChangesForLong => ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(true),
        ToolEffect::ChangesOnce => ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(true)
            .open_world(false),
    }
}

pub(crate) fn answered(answer: CallAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = if answer.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.meta = answer.details.map(|details| {
        let named = [(DETAILS.to_owned(), details.into())];
        MetaObject(named.into_iter().collect())
    });
    result
}
