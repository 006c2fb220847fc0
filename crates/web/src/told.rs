//! The events of a run as the page reads them. Each has its place in the record, and only the
//! beginning of long texts: the page asks for the whole text when somebody wants to read it.

use std::path::PathBuf;

use pi_subagents_page::markdown;
use pi_subagents_records::PlacedEvent;
use pi_subagents_view::preview::{self, Outcome};
use pi_subagents_view::{PreviewContext, gate_words, report_words};
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    AssistantMessage, Happening, Message, Part, RunEvent, Timestamp, ToolCall, ToolResult, text,
};
use serde_json::{Value, json};

use super::texts::result_text;
use pi_subagents_runs::spans::{SpanKind, changed_file};

/// The number of bytes of a message that are sent at once.
const LONGEST_MESSAGE: usize = 64 << 10;

/// The number of bytes of a thought, of a result or of another long text that are sent at once.
const LONGEST_TEXT: usize = 400;

/// Turns the events of one run into JSON for the page.
pub(crate) struct Telling {
    context: PreviewContext,
    /// True if the message with the task itself was sent.
    has_prompt: bool,
    /// The part of each text that is sent.
    extent: TextExtent,
    /// The error of the last answer, until something else is said.
    last_error: Option<String>,
}

/// The part of a run's texts that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextExtent {
    /// The beginning; the rest is asked for.
    Beginning,
    /// This number of bytes, for a file that cannot be asked for more.
    UpTo(usize),
}

impl Telling {
    /// Tells a run from its first event on, or, if `is_later`, from somewhere behind it.
    pub(crate) fn new(home: PathBuf, cwd: PathBuf, is_later: bool, extent: TextExtent) -> Self {
        Self {
            context: PreviewContext {
                home: Some(home),
                cwd,
                width: PreviewContext::DEFAULT_WIDTH,
            },
            has_prompt: is_later,
            extent,
            last_error: None,
        }
    }

    /// Returns the items of a line of the record, in order; most lines have one item or none.
    pub(crate) fn tell(&mut self, placed: &PlacedEvent) -> Vec<Value> {
        let Some(event) = &placed.event else {
            return vec![json!({"k": "unreadable", "p": placed.place})];
        };
        self.tell_event(event, placed.place)
    }

    /// Tells an event whose line begins at a place.
    pub(crate) fn tell_event(&mut self, event: &RunEvent, place: u64) -> Vec<Value> {
        let mut told = self.happened(&event.happening);
        for (number, one) in told.iter_mut().enumerate() {
            one["p"] = json!(place);
            one["t"] = json!(event.at.as_millisecond());
            if one.get("n").is_none() {
                one["n"] = json!(number);
            }
            leave_out_empty_fields(one);
        }
        told
    }

    fn happened(&mut self, happening: &Happening) -> Vec<Value> {
        match happening {
            Happening::Accepted(task) => {
                vec![json!({"k": "task", "md": markdown(self.message(&task.prompt))})]
            }
            Happening::Started(started) => {
                vec![json!({"k": "started", "text": started.runner.as_str()})]
            }
            Happening::Said { record, .. } => self.record(record),
            Happening::Warned(words) => vec![json!({"k": "warned", "text": clean(words)})],
            Happening::Steered(words) => vec![json!({"k": "steered", "text": clean(words)})],
            Happening::Corrected(words) => vec![json!({"k": "corrected", "text": clean(words)})],
            Happening::Reported(report) => {
                vec![json!({"k": "warned", "text": clean(&report_words(report))})]
            }
            Happening::Gated(gated) => {
                vec![json!({"k": "warned", "text": clean(&gate_words(gated))})]
            }
            Happening::Ended(ending) => vec![json!({
                "k": "ended",
                "status": ending.status().as_str(),
                "text": ending.message().map(|words| clean(&words)),
            })],
            Happening::Placed(_)
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Stopping(_) => Vec::new(),
        }
    }

    fn record(&mut self, record: &ChildRecord) -> Vec<Value> {
        match record {
            ChildRecord::MessageEnded(message) => self.said(message),
            ChildRecord::ToolStarted { call_id, .. } => {
                vec![json!({"k": "begun", "id": call_id})]
            }
            ChildRecord::ToolEnded {
                call_id,
                is_error,
                details,
                ..
            } => {
                let changes = details.as_ref().and_then(preview::changes);
                let diff = details
                    .as_ref()
                    .and_then(|details| details["diff"].as_str());
                let diff = diff.filter(|_| self.extent != TextExtent::Beginning);
                vec![json!({
                    "k": "done", "id": call_id, "failed": is_error, "changes": changes,
                    "diff": diff.map(|diff| self.text(diff).0),
                })]
            }
            ChildRecord::Retrying {
                attempt,
                max_attempts,
                error,
            } => {
                // The answer that failed has told the reason already.
                let is_told = self.last_error.take().as_ref() == Some(error);
                let reason = if is_told { "" } else { &format!(": {error}") };
                let words = format!("retry {attempt} of {max_attempts}{reason}");
                vec![json!({"k": "warned", "text": clean(&words)})]
            }
            ChildRecord::Compacting { reason } => {
                let words = format!("the conversation is being shortened: {reason}");
                vec![json!({"k": "remark", "text": clean(&words)})]
            }
            ChildRecord::Compacted { .. } => {
                vec![json!({"k": "remark", "text": "the conversation was shortened"})]
            }
            ChildRecord::ExtensionFailed { error } => {
                vec![json!({"k": "warned", "text": clean(error)})]
            }
            _ => Vec::new(),
        }
    }

    fn said(&mut self, message: &Message) -> Vec<Value> {
        self.last_error = None;
        match message {
            Message::System(_) => Vec::new(),
            // The first message is the task, with the files or the transcript before it.
            Message::User(_) if !std::mem::replace(&mut self.has_prompt, true) => Vec::new(),
            Message::User(_) => {
                let words = message.text().unwrap_or_default();
                vec![json!({"k": "told", "md": markdown(self.message(&words))})]
            }
            Message::Assistant(answer) => self.answer(answer),
            Message::ToolResult(result) => vec![self.result(result)],
            Message::Other { role, .. } => {
                let words = message.text().unwrap_or_default();
                let words = format!("{role}: {}", self.text(&words).0);
                vec![json!({"k": "remark", "text": clean(&words)})]
            }
        }
    }

    fn answer(&mut self, answer: &AssistantMessage) -> Vec<Value> {
        self.last_error.clone_from(&answer.error);
        let parts = answer.parts.iter().enumerate();
        let mut told: Vec<Value> = parts
            .filter_map(|(number, part)| {
                let mut one = self.part(part)?;
                one["n"] = json!(number);
                Some(one)
            })
            .collect();
        let usage = answer.usage;
        told.push(json!({
            "k": "turn",
            "n": answer.parts.len(),
            "model": answer.model,
            "error": answer.error.as_deref().map(clean),
            "usage": [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cost],
        }));
        told
    }

    fn part(&self, part: &Part) -> Option<Value> {
        match part {
            Part::Text(words) if words.trim().is_empty() => None,
            Part::Thinking(words) if words.trim().is_empty() => None,
            Part::Text(words) => {
                let shown = self.message(words);
                let is_cut = shown.len() < words.len();
                Some(json!({"k": "said", "md": markdown(shown), "cut": is_cut}))
            }
            Part::Thinking(words) => {
                let (shown, is_cut) = self.text(words);
                Some(json!({"k": "thought", "text": shown, "cut": is_cut}))
            }
            Part::ToolCall(call) => Some(self.call(call)),
            Part::Image { mime_type } => {
                Some(json!({"k": "remark", "text": format!("[image: {mime_type}]")}))
            }
        }
    }

    fn call(&self, call: &ToolCall) -> Value {
        let lines = preview::call(&call.name, &call.arguments, &self.context);
        let title: Vec<String> = lines.iter().map(pi_subagents_view::Line::text).collect();
        let mut told = json!({
            "k": "call",
            "id": call.id,
            "tool": clean(&call.name),
            "kind": SpanKind::of_tool(&call.name).as_str(),
            "title": title.join(" ").trim(),
            "path": changed_file(call),
        });
        if let TextExtent::UpTo(limit) = self.extent {
            told["arguments"] = json!(text::cut_bytes(arguments_text(call), limit));
        }
        told
    }

    fn result(&self, result: &ToolResult) -> Value {
        let all = result_text(result);
        let (shown, is_cut) = self.text(&all);
        let words = match Outcome::of(result) {
            Outcome::Failed(failure) => Some(failure.to_string()),
            Outcome::Done {
                summary: Some(summary),
                ..
            } => Some(summary.text().trim().to_owned()),
            _ => None,
        };
        json!({
            "k": "result",
            "id": result.call_id,
            "failed": result.is_error,
            "words": words,
            "lines": all.lines().count(),
            "text": shown,
            "cut": is_cut,
        })
    }

    fn message<'a>(&self, words: &'a str) -> &'a str {
        let limit = match self.extent {
            TextExtent::Beginning => LONGEST_MESSAGE,
            TextExtent::UpTo(limit) => limit.max(LONGEST_MESSAGE),
        };
        &words[..words.floor_char_boundary(limit)]
    }

    /// Returns the beginning of a text, and whether there is more.
    fn text(&self, words: &str) -> (String, bool) {
        let limit = match self.extent {
            TextExtent::Beginning => LONGEST_TEXT,
            TextExtent::UpTo(limit) => limit,
        };
        let shown = &words[..words.floor_char_boundary(limit)];
        (text::clean(shown), shown.len() < words.len())
    }
}

/// Removes the fields of an item that say nothing: a long record has very many of them, and a browser
/// would read and keep each.
fn leave_out_empty_fields(item: &mut Value) {
    if let Value::Object(fields) = item {
        fields.retain(|_, value| !value.is_null() && *value != false);
    }
}

fn clean(words: &str) -> String {
    text::clean(words)
}

/// Writes the arguments of a call as a person reads them.
pub(super) fn arguments_text(call: &ToolCall) -> String {
    match &call.arguments {
        Value::Object(fields) => {
            let lines = fields.iter().map(|(name, value)| match value {
                Value::String(words) if words.contains('\n') => format!("{name}:\n{words}"),
                Value::String(words) => format!("{name}: {words}"),
                other => format!("{name}: {other}"),
            });
            clean(&lines.collect::<Vec<_>>().join("\n"))
        }
        other => clean(&other.to_string()),
    }
}

/// Returns a moment as the page reads it.
pub(super) fn millisecond(at: Timestamp) -> i64 {
    at.as_millisecond()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_reason_of_a_retry_is_told_once() {
        let mut telling = Telling::new("/home".into(), "/".into(), false, TextExtent::Beginning);
        let failed = |error: &str| AssistantMessage {
            error: Some(error.to_owned()),
            ..AssistantMessage::default()
        };
        let retry = |attempt: u64| ChildRecord::Retrying {
            attempt,
            max_attempts: 3,
            error: "500: tired".to_owned(),
        };
        let mut tell = |record: ChildRecord| {
            let told = telling.record(&record);
            let words = told.iter().map(|one| match one["k"].as_str() {
                Some("turn") => one["error"].clone(),
                _ => one["text"].clone(),
            });
            words.collect::<Vec<Value>>()
        };
        let answer = |error: &str| {
            let answer = Message::Assistant(failed(error));
            ChildRecord::MessageEnded(answer)
        };
        assert_eq!(tell(answer("500: tired")), ["500: tired"]);
        assert_eq!(tell(retry(1)), ["retry 1 of 3"]);
        // Nothing was said about this one.
        assert_eq!(tell(retry(2)), ["retry 2 of 3: 500: tired"]);
        assert_eq!(tell(answer("overloaded")), ["overloaded"]);
        assert_eq!(tell(retry(3)), ["retry 3 of 3: 500: tired"]);
    }
}
