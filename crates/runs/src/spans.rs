//! The spans of a run's time: waiting for a place, the model, and each call of a tool. The timeline
//! of the web page and the trace for other programs are made of them.

use std::collections::HashMap;

use pi_subagents_view::PreviewContext;
use pi_subagents_view::preview;
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{Happening, Message, RunEvent, Timestamp, ToolCall, Usage, text};
use serde_json::{Value, json};

/// The number of spans of one run that are held: further spans are not drawn.
const MOST: usize = 200_000;

/// The number of spans for which room is kept while most of them are forgotten.
const FEW: usize = 16;

/// A stretch of a run's time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSpan {
    pub kind: SpanKind,
    pub begin: Timestamp,
    /// `None` as long as it goes on.
    pub end: Option<Timestamp>,
    /// The preview of a call, or the model that answered.
    pub label: String,
    pub is_failed: bool,
    /// The tokens and the cost of an answer of the model.
    pub usage: Option<Usage>,
    /// The file that a call changes.
    pub file: Option<String>,
}

/// The kinds of things that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// The run had no place yet.
    Queued,
    Model,
    Read,
    Search,
    Edit,
    Shell,
    Other,
}

/// The spans of one run: a fold over its events.
#[derive(Debug, Default)]
pub struct Spans {
    all: Vec<TimeSpan>,
    /// The number of spans before these that were taken out.
    taken: usize,
    /// The calls without a result, with the numbers of their spans.
    calls: HashMap<String, usize>,
    /// The number of the span of the model that is at work.
    model: Option<usize>,
    /// The moments at which somebody sent the run a message.
    pub steered: Vec<Timestamp>,
    pub(crate) is_over: bool,
    context: PreviewContext,
    /// The lowest number of a span that was added or changed since the last look.
    changed: usize,
}

impl SpanKind {
    /// Returns the word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Model => "model",
            Self::Read => "read",
            Self::Search => "search",
            Self::Edit => "edit",
            Self::Shell => "shell",
            Self::Other => "other",
        }
    }

    /// Returns the kind of work of a tool.
    pub fn of_tool(tool: &str) -> Self {
        match tool {
            "read" | "ls" | "fetch_content" | "fetch_repo" => Self::Read,
            "grep" | "find" | "glob" | "web_search" | "lsp_find_symbol" => Self::Search,
            "edit" | "write" | "multi_edit" | "apply_patch" | "lsp_refactor_symbol" => Self::Edit,
            "bash" | "shell" => Self::Shell,
            _ => Self::Other,
        }
    }
}

impl Spans {
    /// Makes the spans of a run without any events yet.
    pub fn new(context: PreviewContext) -> Self {
        Self {
            context,
            ..Self::default()
        }
    }

    /// Returns all spans, in the order in which they began.
    pub fn all(&self) -> &[TimeSpan] {
        &self.all
    }

    /// Returns the first span that was added or changed since the last time this was asked, with all
    /// behind it; `None` if nothing has changed.
    pub fn news(&mut self) -> Option<(usize, &[TimeSpan])> {
        let from = std::mem::replace(&mut self.changed, usize::MAX);
        let spans = self.all.get(from.checked_sub(self.taken)?..)?;
        (!spans.is_empty()).then_some((from, spans))
    }

    /// Forgets the spans that are over, for a reader that has got them: a run may go on for days.
    pub fn forget_finished(&mut self) {
        drop(self.take_finished());
        self.all.shrink_to(FEW);
    }

    /// Takes out the spans that are over and have none before them that goes on, so that a long run
    /// is never held whole.
    pub fn take_finished(&mut self) -> impl Iterator<Item = TimeSpan> + '_ {
        let open = self.all.iter().position(|span| span.end.is_none());
        let finished = open.unwrap_or(self.all.len());
        self.taken += finished;
        self.all.drain(..finished)
    }

    /// Adds an event of the run.
    pub fn apply(&mut self, event: &RunEvent) {
        let at = event.at;
        match &event.happening {
            Happening::Accepted(task) => {
                self.context.cwd.clone_from(&task.cwd);
                self.begin(SpanKind::Queued, at, String::new());
            }
            Happening::Started(_) => {
                self.end_all(at, false);
                self.begin_model(at);
            }
            Happening::Said { record, .. } => self.add_record(record, at),
            Happening::Steered(_) => self.steered.push(at),
            Happening::Ended(_) => {
                self.end_all(at, true);
                self.is_over = true;
            }
            _ => {}
        }
    }

    fn add_record(&mut self, record: &ChildRecord, at: Timestamp) {
        match record {
            ChildRecord::MessageEnded(Message::User(_)) => self.begin_model(at),
            ChildRecord::MessageEnded(Message::Assistant(answer)) => {
                self.begin_model(at);
                if let Some(number) = self.model.take() {
                    let label = answer.model.clone().unwrap_or_default();
                    let is_failed = answer.error.is_some();
                    let usage = Some(answer.usage);
                    self.change(number, |span| {
                        span.end = Some(at);
                        span.label = label;
                        span.is_failed = is_failed;
                        span.usage = usage;
                    });
                }
                for call in answer.tool_calls() {
                    self.called(call, at);
                }
            }
            ChildRecord::ToolStarted { call_id, .. } => {
                // It may have waited for other calls since the model asked for it.
                if let Some(number) = self.calls.get(call_id) {
                    self.change(*number, |span| span.begin = at);
                }
            }
            ChildRecord::ToolEnded {
                call_id, is_error, ..
            } => self.answered(call_id, *is_error, at),
            ChildRecord::MessageEnded(Message::ToolResult(result)) => {
                self.answered(&result.call_id, result.is_error, at);
            }
            _ => {}
        }
    }

    fn called(&mut self, call: &ToolCall, at: Timestamp) {
        let lines = preview::call(&call.name, &call.arguments, &self.context);
        let label = lines.first().map(|line| line.text().trim().to_owned());
        let kind = SpanKind::of_tool(&call.name);
        if let Some(number) = self.begin(kind, at, label.unwrap_or_default()) {
            self.calls.insert(call.id.clone(), number);
            self.change(number, |span| span.file = changed_file(call));
        }
    }

    fn answered(&mut self, call: &str, is_failed: bool, at: Timestamp) {
        let Some(number) = self.calls.remove(call) else {
            return;
        };
        self.change(number, |span| {
            span.end = Some(at);
            span.is_failed = is_failed;
        });
        if self.calls.is_empty() {
            self.begin_model(at);
        }
    }

    /// Begins a span of the model, unless it is at work already.
    fn begin_model(&mut self, at: Timestamp) {
        if self.model.is_none() && !self.is_over {
            self.model = self.begin(SpanKind::Model, at, String::new());
        }
    }

    fn begin(&mut self, kind: SpanKind, begin: Timestamp, label: String) -> Option<usize> {
        let number = self.taken + self.all.len();
        if number >= MOST {
            return None;
        }
        self.all.push(TimeSpan {
            kind,
            begin,
            end: None,
            label,
            is_failed: false,
            usage: None,
            file: None,
        });
        self.changed = self.changed.min(number);
        Some(number)
    }

    fn change(&mut self, number: usize, change: impl FnOnce(&mut TimeSpan)) {
        let place = number.checked_sub(self.taken);
        if let Some(span) = place.and_then(|place| self.all.get_mut(place)) {
            change(span);
            self.changed = self.changed.min(number);
        }
    }

    /// Ends everything that goes on. A call that has no result by then has failed.
    fn end_all(&mut self, at: Timestamp, is_end_of_run: bool) {
        let open = (self.taken..).zip(&self.all);
        let open: Vec<usize> = open
            .filter(|(_, span)| span.end.is_none())
            .map(|(number, _)| number)
            .collect();
        for number in open {
            self.change(number, |span| {
                span.end = Some(at);
                let is_call = !matches!(span.kind, SpanKind::Model | SpanKind::Queued);
                span.is_failed |= is_end_of_run && is_call;
            });
        }
        self.calls.clear();
        self.model = None;
    }
}

impl TimeSpan {
    /// Returns the span as the page reads it: kind, beginning and end in milliseconds, label,
    /// whether it failed, the tokens and cost of an answer, and the file that a call changes.
    pub fn json(&self) -> Value {
        json!([
            self.kind.as_str(),
            self.begin.as_millisecond(),
            self.end.map(Timestamp::as_millisecond),
            self.label,
            u8::from(self.is_failed),
            self.usage.map(|usage| json!([
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
                usage.cost
            ])),
            self.file,
        ])
    }
}

/// Returns the file that a call changes, if it changes one.
pub fn changed_file(call: &ToolCall) -> Option<String> {
    let is_change = SpanKind::of_tool(&call.name) == SpanKind::Edit;
    let names = ["path", "file_path", "filePath", "file"];
    let path = names
        .iter()
        .find_map(|name| call.arguments.get(name)?.as_str());
    path.filter(|_| is_change).map(text::clean)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pi_subagents_vocabulary::{
        AssistantMessage, Ending, Part, RunId, Runner, SessionId, Started, Task, ToolResult,
    };
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn fold(happenings: Vec<(i64, Happening)>) -> Spans {
        let mut spans = Spans::new(PreviewContext::default());
        for (second, happening) in happenings {
            let event = RunEvent {
                run: RunId::parse("r-1").unwrap(),
                at: Timestamp::from_second(second).unwrap(),
                happening,
            };
            spans.apply(&event);
        }
        spans
    }

    fn child_event(record: ChildRecord) -> Happening {
        Happening::Said {
            line: bytes::Bytes::new(),
            record,
        }
    }

    fn calls(names: &[&str]) -> Happening {
        let call = |name: &&str| {
            Part::ToolCall(ToolCall {
                id: (*name).to_owned(),
                name: (*name).to_owned(),
                arguments: json!({"command": "make", "path": "a.rs"}),
            })
        };
        child_event(ChildRecord::MessageEnded(Message::Assistant(
            AssistantMessage {
                parts: names.iter().map(call).collect(),
                ..AssistantMessage::default()
            },
        )))
    }

    fn result(name: &str, is_error: bool) -> Happening {
        child_event(ChildRecord::MessageEnded(Message::ToolResult(ToolResult {
            call_id: name.to_owned(),
            tool: name.to_owned(),
            is_error,
            ..ToolResult::default()
        })))
    }

    fn started() -> Happening {
        Happening::Started(Started {
            runner: Runner::Embedded,
            child: 1,
            keeper: 2,
        })
    }

    fn lines_of(spans: &Spans) -> Vec<String> {
        let one = |span: &TimeSpan| {
            let (begin, end) = (span.begin.as_second(), span.end.map(Timestamp::as_second));
            let mark = if span.is_failed { " ✗" } else { "" };
            let kind = span.kind.as_str();
            format!(
                "{kind} {begin}-{}{mark}",
                end.map_or("…".to_owned(), |end| end.to_string())
            )
        };
        spans.all().iter().map(one).collect()
    }

    #[test]
    fn time_goes_to_the_queue_the_model_and_the_tools() {
        let task = Arc::new(task());
        let mut spans = fold(vec![
            (0, Happening::Accepted(task)),
            (5, started()),
            (9, calls(&["bash", "read"])),
            (12, result("read", false)),
            (20, result("bash", true)),
            (26, calls(&["edit"])),
        ]);
        assert_eq!(
            lines_of(&spans),
            [
                "queued 0-5",
                "model 5-9",
                "shell 9-20 ✗",
                "read 9-12",
                "model 20-26",
                "edit 26-…"
            ]
        );
        assert_eq!(
            spans.news().map(|(from, news)| (from, news.len())),
            Some((0, 6))
        );
        assert_eq!(spans.news(), None);
        spans.apply(&RunEvent {
            run: RunId::parse("r-1").unwrap(),
            at: Timestamp::from_second(30).unwrap(),
            happening: Happening::Ended(Ending::Stopped),
        });
        assert_eq!(spans.news().map(|(from, _)| from), Some(5));
        assert_eq!(
            lines_of(&spans).last().map(String::as_str),
            Some("edit 26-30 ✗")
        );
    }

    #[test]
    fn what_a_reader_has_got_is_forgotten_and_the_numbers_go_on() {
        let mut spans = fold(vec![(0, started())]);
        for turn in 0..100 {
            let at = |second: i64, happening: Happening| RunEvent {
                run: RunId::parse("r-1").unwrap(),
                at: Timestamp::from_second(10 * turn + second).unwrap(),
                happening,
            };
            spans.apply(&at(1, calls(&["bash"])));
            let news = spans.news().map(|(from, news)| (from, news.len()));
            // The call before has ended since.
            let expected = match usize::try_from(turn).unwrap() {
                0 => (0, 2),
                turn => (2 * turn - 1, 3),
            };
            assert_eq!(news, Some(expected));
            spans.forget_finished();
            spans.apply(&at(2, result("bash", false)));
        }
        assert_eq!(lines_of(&spans), ["shell 991-992", "model 992-…"]);
        assert_eq!(spans.news().map(|(from, _)| from), Some(199));
    }

    fn task() -> Task {
        Task::new(
            RunId::parse("r-1").unwrap(),
            SessionId::parse("s-1").unwrap(),
            "a",
            "look",
            "/",
        )
    }
}
