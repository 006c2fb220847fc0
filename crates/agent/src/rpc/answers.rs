//! What the agent tells about itself when asked.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::message::{Message, joined_text};
use crate::models::ThinkingLevel;

/// The answer to `get_state`.
pub(super) fn state(agent: &Agent) -> Value {
    let conversation = agent.conversation.borrow();
    let mut state = json!({
        "thinkingLevel": agent.thinking.get(),
        "isStreaming": agent.is_running() && !agent.is_compacting.get(),
        "isCompacting": agent.is_compacting.get(),
        "steeringMode": "one-at-a-time",
        "followUpMode": "one-at-a-time",
        "sessionId": conversation.session_id(),
        "autoCompactionEnabled": agent.auto_compaction.get(),
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

/// The answer to `get_available_thinking_levels`.
pub(super) fn thinking_levels(agent: &Agent) -> Value {
    let model = agent.model();
    let has = |level: &ThinkingLevel| {
        model
            .as_ref()
            .is_none_or(|model| model.clamp(*level) == *level)
    };
    let levels: Vec<ThinkingLevel> = ThinkingLevel::all().filter(has).collect();
    json!({"levels": levels})
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
    let tally = conversation.tally();
    let usage = tally.usage;
    let mut stats = json!({
        "sessionId": conversation.session_id(),
        "userMessages": tally.users,
        "assistantMessages": tally.assistants,
        "toolCalls": tally.calls,
        "toolResults": tally.results,
        "totalMessages": tally.messages,
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
        let context = conversation.context_tokens();
        #[expect(clippy::cast_precision_loss, reason = "a percentage is rounded anyway")]
        let percent = context as f64 * 100.0 / window.max(1) as f64;
        stats["contextUsage"] =
            json!({"tokens": context, "contextWindow": window, "percent": percent});
    }
    stats
}
