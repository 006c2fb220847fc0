//! The events of a turn, as pi prints them.

use std::io;
use std::path::Path;

use serde_json::value::RawValue;

use crate::output;
use crate::record::{Block, Message, Record, Streamed, ToolResult, Usage};
use crate::session::SessionFile;
use crate::step::{ToolCall, ToolEvent};

/// The state of the agent between `agent_start` and `agent_settled`.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The messages of the run so far, which `agent_end` repeats.
    messages: Vec<Box<RawValue>>,
    tool_calls: usize,
    has_system_message: bool,
    is_running: bool,
    session: Option<SessionFile>,
}

impl Conversation {
    /// Notes that a prompt was taken, so that `abort` has something to end.
    pub(crate) fn begin(&mut self) {
        self.is_running = true;
    }

    /// Writes messages into this session file from now on.
    pub(crate) fn keep(&mut self, file: &Path) -> io::Result<()> {
        self.session = Some(SessionFile::open(file)?);
        Ok(())
    }

    /// Returns whether a prompt was taken and has not settled.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running
    }

    /// Returns the number of messages of the run so far.
    pub(crate) fn message_count(&self) -> usize {
        self.messages.len()
    }

    /// Answers `prompt` with `text` in one whole turn.
    pub(crate) fn reply(&mut self, prompt: &str, text: &str) {
        output::record(&Record::AgentStart);
        output::record(&Record::TurnStart);
        if !self.has_system_message {
            self.has_system_message = true;
            self.started_and_ended(&Message::system());
        }
        self.started_and_ended(&Message::user(prompt));
        let message = Message::text(text);
        output::record(&Record::MessageStart {
            message: &Message::assistant(Vec::new(), "pending"),
        });
        stream(text);
        self.ended(&message);
        output::record(&Record::TurnEnd {
            message: &message,
            tool_results: Vec::new(),
        });
        self.settle();
    }

    /// Says `text`.
    pub(crate) fn say(&mut self, text: &str) {
        self.ended(&Message::text(text));
    }

    /// Calls a tool and prints its result.
    pub(crate) fn tool_call(&mut self, call: &ToolCall) {
        self.tool_calls += 1;
        let id = format!("call_{}", self.tool_calls);
        let (tool_call_id, tool_name) = (id.as_str(), call.name.as_str());
        let result = ToolResult::text(&call.result).with(call.details.as_deref(), call.terminate);
        self.ended(&Message::assistant(
            vec![Block::ToolCall {
                id: tool_call_id,
                name: tool_name,
                arguments: &call.arguments,
            }],
            "toolUse",
        ));
        output::record(&Record::ToolExecutionStart {
            tool_call_id,
            tool_name,
            args: &call.arguments,
        });
        output::record(&Record::ToolExecutionUpdate {
            tool_call_id,
            tool_name,
            args: &call.arguments,
            partial_result: ToolResult::text(&call.result),
        });
        output::record(&Record::ToolExecutionEnd {
            tool_call_id,
            tool_name,
            result: result.clone(),
            is_error: call.is_error,
        });
        self.ended(&Message::tool_result(
            tool_call_id,
            tool_name,
            &result,
            call.is_error,
        ));
    }

    /// Reports that the request to the model failed.
    pub(crate) fn model_error(&mut self, text: &str) {
        self.ended(&Message::failed("error", text));
        self.end();
    }

    /// Ends the run as `abort` does, if there is a run.
    pub(crate) fn abort(&mut self) {
        if !self.is_running {
            return;
        }
        let message = Message::failed("aborted", "Request aborted");
        self.ended(&message);
        output::record(&Record::TurnEnd {
            message: &message,
            tool_results: Vec::new(),
        });
        self.settle();
    }

    /// Prints `agent_end` with all messages of the run.
    fn end(&mut self) {
        output::record(&Record::AgentEnd {
            messages: self.messages.iter().map(AsRef::as_ref).collect(),
            will_retry: false,
        });
        self.messages.clear();
    }

    /// Prints `agent_settled`, after an `agent_end` if there was a message since the last one.
    pub(crate) fn settle(&mut self) {
        if !self.messages.is_empty() {
            self.end();
        }
        output::record(&Record::AgentSettled);
        self.is_running = false;
    }

    fn started_and_ended(&mut self, message: &Message<'_>) {
        output::record(&Record::MessageStart { message });
        self.ended(message);
    }

    fn ended(&mut self, message: &Message<'_>) {
        output::record(&Record::MessageEnd { message });
        let json = output::json(message);
        if let Some(session) = &mut self.session {
            session.append(&json);
        }
        if let Ok(raw) = RawValue::from_string(json) {
            self.messages.push(raw);
        }
    }
}

/// Prints `tool_execution_start`.
pub(crate) fn tool_start(event: &ToolEvent) {
    output::record(&Record::ToolExecutionStart {
        tool_call_id: &event.id,
        tool_name: &event.name,
        args: &event.arguments,
    });
}

/// Prints `tool_execution_update`.
pub(crate) fn tool_update(event: &ToolEvent) {
    output::record(&Record::ToolExecutionUpdate {
        tool_call_id: &event.id,
        tool_name: &event.name,
        args: &event.arguments,
        partial_result: ToolResult::text(&event.result),
    });
}

/// Prints `tool_execution_end`.
pub(crate) fn tool_end(event: &ToolEvent) {
    output::record(&Record::ToolExecutionEnd {
        tool_call_id: &event.id,
        tool_name: &event.name,
        result: ToolResult::text(&event.result),
        is_error: event.is_error,
    });
}

fn stream(text: &str) {
    let content_index = 0;
    for assistant_message_event in [
        Streamed::Start { content_index },
        Streamed::Delta {
            content_index,
            delta: text,
        },
        Streamed::End {
            content_index,
            content: text,
        },
    ] {
        output::record(&Record::MessageUpdate {
            usage: Usage::of_one_message(),
            assistant_message_event,
        });
    }
}
