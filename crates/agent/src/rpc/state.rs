//! The state that a client may ask for.

use serde_json::{Value, json};

use crate::agent::Agent;

/// Returns the answer to `get_state`.
pub(super) fn report(agent: &Agent) -> Value {
    let conversation = agent.conversation.borrow();
    let mut state = json!({
        "thinkingLevel": agent.thinking.get().as_str(),
        "isStreaming": agent.is_running() && !agent.is_compacting.get(),
        "isCompacting": agent.is_compacting.get(),
        "steeringMode": "one-at-a-time",
        "followUpMode": "one-at-a-time",
        "sessionId": conversation.session_id(),
        "autoCompactionEnabled": agent.setup.compaction.enabled,
        "messageCount": conversation.messages().len(),
        "pendingMessageCount": agent.queue.borrow().len(),
    });
    // As in JavaScript, an absent value is left out.
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
