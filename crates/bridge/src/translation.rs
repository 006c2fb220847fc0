//! Turns the updates of a session into pi's records. Pure, apart from the time of day.

use std::collections::HashMap;

use jiff::Timestamp;
use pi_subagents_vocabulary::{FINALIZE_TOOL, OtherAgent};
use serde_json::{Value, json};

use crate::facts::facts_of;
use crate::tool_call::{AgentCall, CallResult};

/// The number of calls that are followed at once.
const MOST_CALLS: usize = 256;

/// The number of bytes of text in one answer that are kept.
const MOST_TEXT: usize = 4 << 20;

/// The number of bytes of an unknown update that are kept.
const MOST_UNKNOWN: usize = 4000;

/// The conversation as its owner sees it.
pub(crate) struct Translation {
    agent: OtherAgent,
    /// The model that the session names.
    pub(crate) model: String,
    /// The parts of the answer that is being given.
    parts: Vec<Value>,
    calls: HashMap<String, AgentCall>,
    /// Tokens that were told since the last answer.
    tokens: u64,
    /// Tokens of all answers of the turn.
    counted: u64,
    /// Dollars that the session has cost, and how many of them were told.
    cost: Option<f64>,
    told_cost: f64,
    /// Records that wait to be printed.
    records: Vec<Value>,
    /// Texts that no model wrote.
    notices: Vec<String>,
}

/// The way in which a turn has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnEnd {
    /// The agent answered with a reason, and with the tokens of the turn if it knows them.
    Stopped { reason: String, usage: Value },
    /// The agent could not go on.
    Failed(String),
    /// The run has reported, so its turn was ended.
    Reported,
}

impl Translation {
    pub(crate) fn new(agent: OtherAgent) -> Self {
        Self {
            agent,
            model: String::new(),
            parts: Vec::new(),
            calls: HashMap::new(),
            tokens: 0,
            counted: 0,
            cost: None,
            told_cost: 0.0,
            records: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Takes the records that wait to be printed.
    pub(crate) fn take_records(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.records)
    }

    /// Takes the texts that no model wrote.
    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Tells a message to the model.
    pub(crate) fn user(&mut self, text: &str) {
        self.records.push(ended(&json!({
            "role": "user", "content": [text_part(text)], "timestamp": now(),
        })));
    }

    /// Translates an update of the session.
    pub(crate) fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => {
                let text = update["content"]["text"].as_str().unwrap_or_default();
                self.text(text);
                self.count_meta(&update["_meta"]);
            }
            "agent_thought_chunk" => {
                let text = update["content"]["text"].as_str().unwrap_or_default();
                self.thought(text);
            }
            "tool_call" | "tool_call_update" => self.call(update),
            "usage_update" => {
                self.tokens = update["used"].as_u64().unwrap_or(self.tokens);
                if let Some(amount) = update["cost"]["amount"].as_f64() {
                    self.cost = Some(amount);
                }
            }
            "user_message_chunk"
            | "plan"
            | "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update" => {}
            unknown => {
                let mut text = update.to_string();
                text.truncate(text.floor_char_boundary(MOST_UNKNOWN));
                self.records
                    .push(json!({"type": "acp_update", "kind": unknown, "update": text}));
            }
        }
    }

    /// Counts tokens that an agent tells beside its text.
    fn count_meta(&mut self, meta: &Value) {
        let usage = &meta["usage"];
        let told = usage["totalTokens"]
            .as_u64()
            .or(usage["total_tokens"].as_u64());
        self.tokens = told.unwrap_or(self.tokens);
    }

    fn text(&mut self, text: &str) {
        let notices = facts_of(self.agent).notices;
        if notices.iter().any(|notice| text.starts_with(notice)) {
            self.notices.push(text.to_owned());
            return;
        }
        if text.is_empty() {
            return;
        }
        let at = self.part("text", text);
        self.records.push(json!({
            "type": "message_update",
            "assistantMessageEvent": {"type": "text_delta", "contentIndex": at, "delta": text},
        }));
    }

    fn thought(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let at = self.part("thinking", text);
        self.records.push(json!({
            "type": "message_update",
            "assistantMessageEvent": {"type": "thinking_delta", "contentIndex": at},
        }));
    }

    /// Adds text to the last part, or begins a part of another kind.
    fn part(&mut self, kind: &str, text: &str) -> usize {
        if self.parts.last().is_none_or(|part| part["type"] != kind) {
            self.parts.push(json!({"type": kind, kind: ""}));
            if kind == "text" {
                let at = self.parts.len() - 1;
                self.records.push(json!({
                    "type": "message_update",
                    "assistantMessageEvent": {"type": "text_start", "contentIndex": at},
                }));
            }
        }
        let at = self.parts.len() - 1;
        if let Value::String(known) = &mut self.parts[at][kind]
            && known.len() + text.len() <= MOST_TEXT
        {
            known.push_str(text);
        }
        at
    }

    fn call(&mut self, update: &Value) {
        let id = update["toolCallId"].as_str().unwrap_or_default();
        if !self.calls.contains_key(id) && self.calls.len() >= MOST_CALLS {
            return;
        }
        let mut call = self.calls.remove(id).unwrap_or_default();
        call.take(update);
        if call.tool() == FINALIZE_TOOL {
            // Our own server tells of it.
            if !call.is_over() {
                self.calls.insert(id.to_owned(), call);
            }
            return;
        }
        if !call.is_begun && (call.may_begin() || call.is_over()) {
            call.is_begun = true;
            self.begin(id, &call.tool(), &call.arguments());
        }
        if call.is_over() {
            self.end(id, &call.tool(), &call.result());
            return;
        }
        if call.is_begun
            && let Some(output) = call.progress()
        {
            self.records.push(json!({
                "type": "tool_execution_update", "toolCallId": id, "toolName": call.tool(),
                "args": {}, "partialResult": {"content": [text_part(&output)]},
            }));
        }
        self.calls.insert(id.to_owned(), call);
    }

    /// Tells that a call begins. It ends the answer of the model that made it.
    fn begin(&mut self, id: &str, tool: &str, arguments: &Value) {
        self.parts.push(json!({
            "type": "toolCall", "id": id, "name": tool, "arguments": arguments,
        }));
        let tokens = std::mem::take(&mut self.tokens);
        self.counted += tokens;
        let usage = json!({"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens});
        self.answer("toolUse", &usage, None);
        self.records.push(json!({
            "type": "tool_execution_start", "toolCallId": id, "toolName": tool, "args": arguments,
        }));
    }

    fn end(&mut self, id: &str, tool: &str, result: &CallResult) {
        let CallResult {
            text,
            is_error,
            details,
        } = result;
        let content = json!([text_part(text)]);
        self.records.push(json!({
            "type": "tool_execution_end", "toolCallId": id, "toolName": tool, "isError": is_error,
            "result": {"content": content, "details": details},
        }));
        self.records.push(ended(&json!({
            "role": "toolResult", "toolCallId": id, "toolName": tool, "content": content,
            "details": details, "isError": is_error, "timestamp": now(),
        })));
    }

    /// Tells of a report that our server has taken or refused; `correction` says why.
    pub(crate) fn report(&mut self, id: &str, report: &Value, correction: Option<&str>) {
        self.begin(id, FINALIZE_TOOL, report);
        let result = CallResult {
            text: correction.unwrap_or("finalized").to_owned(),
            is_error: correction.is_some(),
            details: report.clone(),
        };
        self.end(id, FINALIZE_TOOL, &result);
    }

    /// Ends the answer to a prompt while the agent works on another one.
    pub(crate) fn interlude(&mut self, usage: &Value) {
        if !self.parts.is_empty() {
            let usage = self.last_usage(usage);
            self.answer("stop", &usage, None);
        }
    }

    /// Ends the turn with the last answer of the model.
    pub(crate) fn finish(&mut self, end: &TurnEnd) {
        let open = std::mem::take(&mut self.calls);
        for (id, call) in open.into_iter().filter(|(_, call)| call.is_begun) {
            let result = CallResult {
                text: "Command aborted".to_owned(),
                is_error: true,
                details: json!({"exitCode": "unknown"}),
            };
            self.end(&id, &call.tool(), &result);
        }
        let (reason, error, usage) = match end {
            TurnEnd::Failed(message) => ("error", Some(message.as_str()), &Value::Null),
            TurnEnd::Reported => ("stop", None, &Value::Null),
            TurnEnd::Stopped { reason, usage } => {
                let refused = "the model refused to answer";
                match reason.as_str() {
                    "max_tokens" | "max_turn_requests" => ("length", None, usage),
                    "cancelled" => ("aborted", None, usage),
                    "refusal" => ("error", Some(refused), usage),
                    _ => ("stop", None, usage),
                }
            }
        };
        let usage = self.last_usage(usage);
        self.answer(reason, &usage, error);
        self.counted = 0;
    }

    /// Returns the tokens and the cost of the turn that were not counted yet.
    fn last_usage(&mut self, told: &Value) -> Value {
        let count = |keys: [&str; 2]| {
            let found = keys.iter().find_map(|key| told[*key].as_u64());
            found.unwrap_or_default()
        };
        let mut left = std::mem::take(&mut self.counted);
        // The earlier figure was an estimate of the same tokens.
        let mut rest = |tokens: u64| {
            let taken = tokens.min(left);
            left -= taken;
            tokens - taken
        };
        let input = rest(count(["inputTokens", "input_tokens"]));
        let cache_read = rest(count(["cachedReadTokens", "cached_read_tokens"]));
        let cache_write = rest(count(["cachedWriteTokens", "cached_write_tokens"]));
        let output = rest(count(["outputTokens", "output_tokens"]));
        let mut total = input + cache_read + cache_write + output;
        let waiting = std::mem::take(&mut self.tokens);
        let mut usage = json!({
            "input": input, "output": output, "cacheRead": cache_read, "cacheWrite": cache_write,
        });
        if told.is_null() {
            usage["input"] = waiting.into();
            total = waiting;
        }
        usage["totalTokens"] = total.into();
        if let Some(cost) = self.cost {
            usage["cost"] = json!({"total": (cost - self.told_cost).max(0.0)});
            self.told_cost = cost;
        }
        usage
    }

    fn answer(&mut self, reason: &str, usage: &Value, error: Option<&str>) {
        let mut message = json!({
            "role": "assistant", "content": std::mem::take(&mut self.parts), "api": "acp",
            "provider": self.agent.as_str(), "model": self.model, "usage": usage,
            "stopReason": reason, "timestamp": now(),
        });
        if let Some(error) = error {
            message["errorMessage"] = error.into();
        }
        self.records.push(ended(&message));
    }
}

fn ended(message: &Value) -> Value {
    json!({"type": "message_end", "message": message})
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(translation: &mut Translation) -> String {
        let records = translation.take_records();
        let lines = records.into_iter().map(|mut record| {
            if let Some(message) = record["message"].as_object_mut() {
                message.remove("timestamp");
                message.remove("api");
            }
            record.to_string()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_turn_becomes_the_records_of_a_pi() {
        let mut translation = Translation::new(OtherAgent::Codex);
        translation.model = "gpt".to_owned();
        let chunk = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        for update in [
            chunk("Warning: Model metadata for `m` not found."),
            chunk("I "),
            chunk("look."),
            json!({"sessionUpdate": "usage_update", "used": 100, "size": 1000}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "execute", "status": "pending"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "rawInput": {"command": "make"}, "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "_meta": {"terminal_output": {"data": "no"}}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "_meta": {"heartbeat": 1}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed", "_meta": {"terminal_exit": {"exit_code": 3}}}),
            json!({"sessionUpdate": "novelty", "x": 1}),
            chunk("Done."),
        ] {
            translation.update(&update);
        }
        translation.finish(&TurnEnd::Stopped {
            reason: "end_turn".to_owned(),
            usage: json!({"inputTokens": 150, "outputTokens": 20, "totalTokens": 170}),
        });
        insta::assert_snapshot!(shown(&mut translation));
        assert_eq!(
            translation.take_notices(),
            ["Warning: Model metadata for `m` not found."]
        );
    }
}
