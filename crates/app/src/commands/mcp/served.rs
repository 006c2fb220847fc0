//! Our tools as the protocol wants them.

use std::pin::Pin;
use std::sync::Arc;

use pi_subagents_mcp::{Call, CallAnswer, ToolDescription, ToolEffect, Tools};
use serde_json::{Map, Value};

use super::progress::watching;
use crate::caller::Caller;
use crate::dialects::{Effect, Tool, tools};
use crate::toolbox::Toolbox;

/// The tools of this process, for one client.
pub(super) struct ServedTools {
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) caller: Caller,
}

impl Tools for ServedTools {
    fn list(&self) -> Vec<ToolDescription> {
        tools().into_iter().map(description).collect()
    }

    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = CallAnswer> + Send + '_>> {
        Box::pin(async move {
            let watch = watching(call.on_progress, call.cancelled);
            let arguments = Value::Object(call.arguments);
            let called = self
                .toolbox
                .call(&call.tool, &arguments, &self.caller, watch);
            match called.await {
                Ok(answer) => CallAnswer {
                    text: answer.text,
                    details: object(answer.details),
                    is_error: false,
                },
                Err(error) => CallAnswer {
                    text: error.to_answer(),
                    details: None,
                    is_error: true,
                },
            }
        })
    }
}

fn description(tool: Tool) -> ToolDescription {
    ToolDescription {
        name: tool.name.to_owned(),
        title: tool.label.to_owned(),
        description: tool.description.to_owned(),
        input_schema: object(tool.parameters).unwrap_or_default(),
        effect: match tool.effect {
            Effect::Reads => ToolEffect::Reads,
            Effect::Starts => ToolEffect::Changes,
            Effect::Runs => ToolEffect::ChangesForLong,
        },
    }
}

/// Clients of older versions of the protocol know objects only.
fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}
