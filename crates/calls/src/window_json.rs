//! The shape of windows in the `details` of an answer. While a call runs it is written twenty
//! times a second, so nothing is copied that can be borrowed.

use std::borrow::Cow;
use std::time::Duration;

use pi_subagents_view::{
    Line, LineKind, Role, Window, WindowLine, header_with_files, partial_lines,
};
use pi_subagents_vocabulary::{
    Ending, SessionId, Status, StopReason, ThinkingLevel, Timestamp, UsedDefinition, text,
};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use super::window_record::{Lines, SeenLines};

/// The number of bytes that are sent of a line that will be cut to the width of a screen.
const WIDEST_LINE: usize = 2 << 10;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DetailsJson<'a> {
    pub(super) windows: Vec<WindowJson<'a>>,
    pub(super) max_lines_per_window: usize,
    pub(super) global_status: &'static str,
    pub(super) session_ids: Vec<&'a str>,
    pub(super) header: SpansJson,
    pub(super) footer: Vec<SpansJson>,
}

/// A field whose value is not known is left out, unless every window has the field.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WindowJson<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    status: &'static str,
    /// True for a run without a place. Its word is that of a running run, as documented.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_queued: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_info: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<LinesJson<'a>>,
    /// The number of lines that came before `lines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_lines: Option<usize>,
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    timeout: Option<Seconds>,
    tool_count: Option<usize>,
    file_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    todo_total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    todo_completed: Option<usize>,
    header: SpansJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    all_messages: Option<LinesJson<'a>>,
}

impl<'a> WindowJson<'a> {
    pub(super) fn of(
        window: &'a Window,
        files: usize,
        now: Timestamp,
        lines: Lines,
        newest: usize,
        columns: usize,
    ) -> Self {
        let facts = window.facts();
        let task = facts.task.as_ref();
        let definition = task.and_then(|task| task.definition.as_ref());
        let todos = window.todos();
        let (shown, all) = match lines {
            Lines::Both => (
                Some(LinesJson::complete(window, newest)),
                Some(LinesJson::complete(window, usize::MAX)),
            ),
            Lines::Live {
                seen: SeenLines::Newest,
                columns,
            } => (Some(LinesJson::live(window, newest, columns)), None),
            Lines::Live {
                seen: SeenLines::All,
                columns,
            } => (None, Some(LinesJson::live(window, usize::MAX, columns))),
        };
        Self {
            name: window.name(),
            session_id: window.session().map(SessionId::as_str),
            status: window.status().as_delegation_word(),
            is_queued: window.status() == Status::Queued,
            profile_name: definition.map(|used: &UsedDefinition| used.name.as_str()),
            profile_info: definition.map(|used| used.summary.as_str()),
            provider: window.provider(),
            model: window.model(),
            thinking_level: window.thinking().map(ThinkingLevel::as_str),
            hidden_lines: shown
                .as_ref()
                .map(LinesJson::hidden)
                .filter(|hidden| *hidden > 0),
            lines: shown,
            exit_code: facts.ending.as_ref().map(Ending::exit_code),
            stop_reason: facts.stop_reason.as_ref().map(StopReason::as_word),
            error_message: window.error(),
            started_at: facts
                .started_at
                .or(facts.accepted_at)
                .map(Timestamp::as_millisecond),
            completed_at: facts.ended_at.map(Timestamp::as_millisecond),
            timeout: window.timeout().map(Seconds),
            tool_count: window.tools(),
            file_count: files,
            todo_total: todos.map(|todos| todos.total),
            todo_completed: todos.map(|todos| todos.completed),
            header: SpansJson(header_with_files(window, files, now, columns)),
            all_messages: all,
        }
    }
}

/// Whole seconds as a whole number.
struct Seconds(Duration);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.subsec_nanos() {
            0 => serializer.serialize_u64(self.0.as_secs()),
            _ => serializer.serialize_f64(self.0.as_secs_f64()),
        }
    }
}

/// The newest lines of a window.
struct LinesJson<'a> {
    window: &'a Window,
    newest: usize,
    /// True if no line is cut, because somebody reads all of them.
    is_whole: bool,
    /// The lines of the message that is still being written, which are never kept.
    partial_lines: Vec<WindowLine>,
}

impl<'a> LinesJson<'a> {
    fn complete(window: &'a Window, newest: usize) -> Self {
        Self {
            window,
            newest,
            is_whole: newest == usize::MAX,
            partial_lines: Vec::new(),
        }
    }

    /// Returns the same number of lines, with the partial message at their end.
    fn live(window: &'a Window, newest: usize, columns: usize) -> Self {
        let said = window
            .partial()
            .map(|message| partial_lines(message, newest, columns));
        let partial_lines: Vec<_> = said
            .into_iter()
            .flatten()
            .map(|line| WindowLine {
                kind: LineKind::Text,
                line,
                whole: None,
            })
            .collect();
        Self {
            window,
            newest: newest.saturating_sub(partial_lines.len()),
            is_whole: newest == usize::MAX,
            partial_lines,
        }
    }

    /// Returns how many lines are held that are older than these.
    fn hidden(&self) -> usize {
        let held = self.window.all_lines().len();
        held.saturating_sub(self.newest)
    }
}

impl Serialize for LinesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lines = self.window.lines(self.newest).chain(&self.partial_lines);
        if self.is_whole {
            let whole = lines.flat_map(|line| {
                let kind = line.kind;
                line.whole()
                    .iter()
                    .map(move |line| LineJson::of(kind, line))
            });
            return serializer.collect_seq(whole);
        }
        serializer.collect_seq(lines.map(|line| LineJson::of(line.kind, &line.line).beginning()))
    }
}

/// One line. A session keeps every line, so the spans of a line that looks as usual for its kind
/// are left out.
#[derive(Serialize)]
struct LineJson<'a> {
    text: Cow<'a, str>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<SpansOf<'a>>,
}

impl<'a> LineJson<'a> {
    fn of(kind: LineKind, line: &'a Line) -> Self {
        match line.spans() {
            [only] if only.role() == usual_role(kind) => Self {
                text: Cow::Borrowed(only.text()),
                kind: kind.as_str(),
                spans: None,
            },
            _ => Self {
                text: Cow::Owned(line.text()),
                kind: kind.as_str(),
                spans: Some(SpansOf(line)),
            },
        }
    }

    /// Cuts a text to the part that a screen can show in one line.
    fn beginning(self) -> Self {
        if self.text.len() <= WIDEST_LINE || self.spans.is_some() {
            return self;
        }
        Self {
            text: Cow::Owned(text::cut_bytes(self.text.into_owned(), WIDEST_LINE)),
            ..self
        }
    }
}

/// Returns the role of a line without spans; also in `extension/src/windows.ts`.
fn usual_role(kind: LineKind) -> Role {
    match kind {
        LineKind::Text => Role::Plain,
        LineKind::Tool => Role::Muted,
    }
}

/// A line as its spans.
pub(super) struct SpansJson(pub(super) Line);

struct SpansOf<'a>(&'a Line);

#[derive(Serialize)]
struct SpanJson<'a> {
    text: &'a str,
    role: &'static str,
}

impl Serialize for SpansJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SpansOf(&self.0).serialize(serializer)
    }
}

impl Serialize for SpansOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spans = self.0.spans();
        let mut list = serializer.serialize_seq(Some(spans.len()))?;
        for span in spans {
            list.serialize_element(&SpanJson {
                text: span.text(),
                role: span.role().as_str(),
            })?;
        }
        list.end()
    }
}
