//! The tools, with pi's names, arguments, limits and texts.
//!
//! [`TOOLS`] is the table; a new tool is one file and one row.

mod arguments;
mod ask;
mod bash;
mod bash_output;
mod diff;
mod edit;
mod finalize;
mod find;
mod grep;
mod guarded_directories;
mod image;
mod line_window;
mod ls;
mod paths;
mod read;
mod replacements;
mod surroundings;
mod table;
mod tree;
mod truncation;
mod write;

pub(crate) use guarded_directories::Guarded;
pub(crate) use image::mime_type as image_type;
pub(crate) use surroundings::{ModelInUse, ToolSurroundings};
#[cfg(test)]
use table::find_tool;
pub(crate) use table::{TOOLS, Tool, ToolName};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::abort::Aborted;
use crate::message::{Block, ToolCall};

/// The result of a tool call, or its output so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ToolOutput {
    pub(crate) content: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
    /// Ends the run without another model call.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) terminate: bool,
}

impl ToolOutput {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Block::text(text)],
            details: None,
            terminate: false,
        }
    }

    /// Returns the result for the model when a call fails; pi gives it empty details.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self::text(message).with_details(json!({}))
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field over by reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// The reason why a call failed, for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ToolError(String);

impl ToolError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn aborted() -> Self {
        Self::new("Operation aborted")
    }
}

type ToolResult = Result<ToolOutput, ToolError>;

/// A partial result, which replaces the partial result before it.
#[derive(Debug)]
pub(crate) struct Update {
    /// The number of the call within its message.
    pub(crate) call: usize,
    pub(crate) output: ToolOutput,
}

/// The channel on which a call reports its output so far.
#[derive(Debug)]
pub(crate) struct Updates {
    call: usize,
    sender: mpsc::Sender<Update>,
}

impl Updates {
    pub(crate) fn new(call: usize, sender: mpsc::Sender<Update>) -> Self {
        Self { call, sender }
    }

    /// Reports the output. It is dropped while nobody reads, because a later report has more.
    fn send(&self, output: ToolOutput) {
        let call = self.call;
        let _ = self.sender.try_send(Update { call, output });
    }
}

/// Runs one call. Arguments may have any shape; arguments that do not fit give an error result.
pub(crate) async fn execute(
    tool: &Tool,
    call: &ToolCall,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
    updates: &Updates,
) -> ToolResult {
    let prepared = match tool.name {
        ToolName::Edit => edit::tidy_arguments(call.arguments.clone()),
        _ => call.arguments.clone(),
    };
    if let (ToolName::Finalize, Some(schema)) = (tool.name, &surroundings.output_schema) {
        return finalize::run_typed(prepared, schema);
    }
    let fitted = arguments::fit(call, &tool.parameters(), prepared)?;
    match tool.name {
        ToolName::Bash => bash::run(parse(fitted)?, surroundings, aborted, updates).await,
        ToolName::Finalize => finalize::run(fitted),
        ToolName::Ask => ask::run(fitted, surroundings.dialogs.as_ref(), aborted).await,
        ToolName::Edit => blocking(edit::run, parse(fitted)?, surroundings, aborted).await,
        ToolName::Find => blocking(find::run, parse(fitted)?, surroundings, aborted).await,
        ToolName::Grep => blocking(grep::run, parse(fitted)?, surroundings, aborted).await,
        ToolName::Ls => blocking(ls::run, parse(fitted)?, surroundings, aborted).await,
        ToolName::Read => blocking(read::run, parse(fitted)?, surroundings, aborted).await,
        ToolName::Write => blocking(write::run, parse(fitted)?, surroundings, aborted).await,
    }
}

fn parse<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::new(error.to_string()))
}

/// Returns as much of a text as a model gets, and details about the rest. The whole of a long text
/// becomes a file where the output of shell commands does.
pub(crate) fn bounded_text(text: &str, surroundings: &ToolSurroundings) -> (String, Option<Value>) {
    let mut output = bash_output::BashOutput::new(&bash::place_for_output(surroundings));
    output.add(text.as_bytes());
    let shown = output.shown();
    (shown.text(), shown.details())
}

/// Runs file work on a thread of its own, so that an abort or a command never waits for it.
async fn blocking<A: Send + 'static>(
    work: fn(&A, &ToolSurroundings, &Aborted) -> ToolResult,
    arguments: A,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
) -> ToolResult {
    let (for_work, watched) = (surroundings.clone(), aborted.clone());
    let working = tokio::task::spawn_blocking(move || work(&arguments, &for_work, &watched));
    tokio::select! {
        () = aborted.raised() => Err(ToolError::aborted()),
        result = working => {
            result.unwrap_or_else(|panic| Err(ToolError::new(panic.to_string())))
        }
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
