//! The session as a client asks for it: its messages, its sums, and another session in its place.

use std::path::Path;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::message::Message;
use crate::session::{Claim, Recorded};
use crate::usage::Usage;

/// Returns the answer to `get_messages`: what the model sees, without the system prompt.
pub(super) fn messages(agent: &Agent) -> Value {
    let messages = agent.conversation.borrow().messages();
    let shown = messages
        .iter()
        .filter(|message| !matches!(&***message, Message::System(_)));
    json!({"messages": shown.collect::<Vec<_>>()})
}

/// Returns the answer to `get_session_stats`. Messages that were summarized are not counted.
pub(super) fn stats(agent: &Agent) -> Value {
    let conversation = agent.conversation.borrow();
    let (mut asked, mut answered, mut calls, mut results) = (0, 0, 0, 0);
    let mut usage = Usage::default();
    for message in conversation.messages() {
        match &*message {
            Message::User(_) => asked += 1,
            Message::ToolResult(_) => results += 1,
            Message::Assistant(answer) => {
                answered += 1;
                calls += answer.tool_calls().count();
                usage += answer.usage;
            }
            Message::System(_) | Message::CompactionSummary(_) | Message::Other(_) => {}
        }
    }
    let total = usage.input + usage.output + usage.cache_read + usage.cache_write;
    let mut stats = json!({
        "sessionId": conversation.session_id(),
        "userMessages": asked,
        "assistantMessages": answered,
        "toolCalls": calls,
        "toolResults": results,
        "totalMessages": asked + answered + results,
        "tokens": {
            "input": usage.input, "output": usage.output,
            "cacheRead": usage.cache_read, "cacheWrite": usage.cache_write, "total": total,
        },
        "cost": usage.cost.map_or(0.0, |cost| cost.total),
    });
    if let Some(file) = conversation.session_file() {
        stats["sessionFile"] = json!(file);
    }
    if let Some(window) = agent.model().and_then(|model| model.context_window) {
        let tokens = conversation.context_tokens();
        #[expect(clippy::cast_precision_loss, reason = "shown with a few digits")]
        let percent = 100.0 * tokens as f64 / window.max(1) as f64;
        stats["contextUsage"] =
            json!({"tokens": tokens, "contextWindow": window, "percent": percent});
    }
    stats
}

/// Goes on with the session of another file, whose model and settings are left to the client.
pub(super) fn switch(agent: &Agent, file: &Path) -> Result<Value, String> {
    if agent.is_running() {
        return Err("A session cannot be changed while the agent works. Abort first.".to_owned());
    }
    let switched = json!({"cancelled": false});
    if agent.conversation.borrow().session_file() == Some(file) {
        return Ok(switched);
    }
    if !file.is_file() {
        return Err(format!("There is no session {}", file.display()));
    }
    let claim = Claim::take(file).map_err(|error| error.to_string())?;
    let recorded = Recorded::read(file).map_err(|error| error.to_string())?;
    let recorded = recorded.ok_or_else(|| format!("{} is not a session", file.display()))?;
    let conversation = Conversation::resume(claim, recorded).map_err(|error| error.to_string())?;
    agent.conversation.replace(conversation);
    Ok(switched)
}
