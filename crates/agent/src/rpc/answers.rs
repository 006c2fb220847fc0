//! What the agent tells about itself when asked.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::message::{Message, joined_text};
use crate::usage::Usage;

/// The answer to `get_state`.
pub(super) fn state(agent: &Agent) -> Value {
    let conversation = agent.conversation.borrow();
    let mut state = json!({
        "thinkingLevel": agent.thinking.get(),
        "isStreaming": agent.is_running(),
        "isCompacting": false,
        "steeringMode": "one-at-a-time",
        "followUpMode": "one-at-a-time",
        "sessionId": conversation.session_id(),
        "autoCompactionEnabled": false,
        "messageCount": conversation.messages().len(),
        "pendingMessageCount": agent.queue.borrow().len(),
    });
    // As in JavaScript, what is not there is left out.
    let optional = [
        ("model", agent.model().map(|model| json!(model))),
        (
            "sessionName",
            conversation.name.as_ref().map(|name| json!(name)),
        ),
        (
            "sessionFile",
            conversation.session_file().map(|file| json!(file)),
        ),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            state[name] = value;
        }
    }
    state
}

/// The answer to `get_messages`.
pub(super) fn messages(agent: &Agent) -> Value {
    let messages = agent.conversation.borrow().messages();
    let messages: Vec<&Message> = messages.iter().map(AsRef::as_ref).collect();
    json!({"messages": messages})
}

/// The answer to `get_last_assistant_text`.
pub(super) fn last_assistant_text(agent: &Agent) -> Value {
    let messages = agent.conversation.borrow().messages();
    let texts = messages
        .iter()
        .rev()
        .filter_map(|message| message.as_assistant());
    let text = texts
        .map(|answer| joined_text(&answer.content))
        .find(|text| !text.is_empty());
    json!({"text": text})
}

/// The answer to `get_session_stats`.
pub(super) fn session_stats(agent: &Agent) -> Value {
    let conversation = agent.conversation.borrow();
    let messages = conversation.messages();
    let mut usage = Usage::default();
    let (mut users, mut assistants, mut results, mut calls) = (0, 0, 0, 0);
    let mut context = 0;
    for message in &messages {
        match &**message {
            Message::User(_) => users += 1,
            Message::ToolResult(_) => results += 1,
            Message::Assistant(answer) => {
                assistants += 1;
                calls += answer.tool_calls().count();
                usage += answer.usage;
                context = answer.usage.total_tokens.max(1);
            }
            Message::System(_) | Message::Other(_) => {}
        }
    }
    let mut stats = json!({
        "sessionId": conversation.session_id(),
        "userMessages": users,
        "assistantMessages": assistants,
        "toolCalls": calls,
        "toolResults": results,
        "totalMessages": messages.len(),
        "tokens": {
            "input": usage.input,
            "output": usage.output,
            "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write,
            "total": usage.input + usage.output + usage.cache_read + usage.cache_write,
        },
        "cost": usage.cost.map(|cost| cost.total),
    });
    if let Some(file) = conversation.session_file() {
        stats["sessionFile"] = json!(file);
    }
    if let Some(window) = agent.model().and_then(|model| model.context_window) {
        #[expect(clippy::cast_precision_loss, reason = "a percentage is rounded anyway")]
        let percent = context as f64 * 100.0 / window.max(1) as f64;
        stats["contextUsage"] =
            json!({"tokens": context, "contextWindow": window, "percent": percent});
    }
    stats
}
