//! The windows of a call as data, in the `details` of its answer, so that whoever shows the answer can draw
//! them, now or when it is read again.

use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_delegation::{
    Ending, EventSink, RunEvent, StopReason, ThinkingLevel, Timestamp, UsedDefinition,
};
use pi_subagents_windows::{
    Fleet, Line, LineKind, PreviewContext, Role, Window, WindowLine, header,
};
use serde_json::{Map, Value, json};

use crate::toolbox::ToolAnswer;

/// A line that is drawn elsewhere is cut there.
const ANY_WIDTH: usize = 400;

/// The windows of a call, filled by its events.
#[derive(Clone)]
pub(crate) struct WindowRecord {
    fleet: Arc<Mutex<Fleet>>,
    /// How many files each task was given, in the order of the tasks.
    file_counts: Arc<[usize]>,
    lines_per_window: usize,
    /// Whether anything happened since somebody looked.
    has_changed: Arc<AtomicBool>,
}

impl WindowRecord {
    pub(crate) fn new(
        context: PreviewContext,
        file_counts: impl IntoIterator<Item = usize>,
        lines_per_window: usize,
    ) -> Self {
        Self {
            fleet: Arc::new(Mutex::new(Fleet::new(context))),
            file_counts: file_counts.into_iter().collect(),
            lines_per_window,
            has_changed: Arc::default(),
        }
    }

    /// Tells whether anything has happened since it was asked last.
    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed.swap(false, Ordering::Relaxed)
    }

    /// How it looks now, for whoever follows along; all lines only for whoever shows them.
    pub(crate) fn update(&self, expanded: bool) -> ToolAnswer {
        let text = self.lock().status_header().text();
        ToolAnswer::new(text, self.json(expanded).into())
    }

    /// The documented shape: `windows`, `maxLinesPerWindow`, `globalStatus`, `sessionIds`; and
    /// what stands around the windows, as spans.
    pub(crate) fn json(&self, expanded: bool) -> Map<String, Value> {
        let fleet = self.lock();
        let now = Timestamp::now();
        let windows: Vec<Value> = fleet
            .windows()
            .iter()
            .zip(self.file_counts.iter().chain(std::iter::repeat(&0)))
            .map(|(window, files)| {
                let header = header(window, now, ANY_WIDTH);
                let mut json = window_json(window, *files, self.lines_per_window);
                json.insert("header".to_owned(), spans_json(&header));
                if expanded {
                    let lines = window.all_lines().map(line_json).collect::<Vec<_>>();
                    json.insert("allMessages".to_owned(), lines.into());
                }
                json.into()
            })
            .collect();
        let session_ids: Vec<&str> = fleet
            .windows()
            .iter()
            .filter_map(|window| Some(window.session()?.as_str()))
            .collect();
        let status = if fleet.is_over() { "done" } else { "running" };
        let details = json!({
            "windows": windows,
            "maxLinesPerWindow": self.lines_per_window,
            "globalStatus": status,
            "sessionIds": session_ids,
            "header": spans_json(&fleet.status_header()),
            "footer": fleet.footer(ANY_WIDTH).iter().map(spans_json).collect::<Vec<_>>(),
        });
        match details {
            Value::Object(details) => details,
            _ => Map::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for WindowRecord {
    fn on_event(&mut self, event: &RunEvent) {
        self.on_events(slice::from_ref(event));
    }

    fn on_events(&mut self, events: &[RunEvent]) {
        let mut fleet = self.lock();
        for event in events {
            fleet.apply(event);
        }
        self.has_changed.store(true, Ordering::Relaxed);
    }
}

/// What every window has; the rest is left out where it is not known.
const ALWAYS: [&str; 4] = ["exitCode", "startedAt", "timeout", "toolCount"];

fn window_json(window: &Window, files: usize, lines: usize) -> Map<String, Value> {
    let summary = window.summary();
    let task = summary.task.as_ref();
    let definition = task.and_then(|task| task.definition.as_ref());
    let ending = summary.ending.as_ref();
    let json = json!({
        "name": window.name(),
        "sessionId": window.session().map(ToString::to_string),
        "status": window.status().as_delegation_word(),
        "profileName": definition.map(|used| &used.name),
        "profileInfo": definition.map(|used: &UsedDefinition| &used.summary),
        "provider": window.provider(),
        "model": window.model(),
        "thinkingLevel": window.thinking().map(ThinkingLevel::as_str),
        "lines": window.lines(lines).map(line_json).collect::<Vec<_>>(),
        "exitCode": ending.map(Ending::exit_code),
        "stopReason": summary.stop_reason.as_ref().map(StopReason::as_word),
        "errorMessage": window.error(),
        "startedAt": summary.started_at.or(summary.accepted_at).map(Timestamp::as_millisecond),
        "completedAt": summary.ended_at.map(Timestamp::as_millisecond),
        "timeout": window.timeout().map(seconds),
        "toolCount": window.tools(),
        "fileCount": files,
        "todoTotal": window.todos().map(|todos| todos.total),
        "todoCompleted": window.todos().map(|todos| todos.completed),
    });
    let Value::Object(mut fields) = json else {
        return Map::new();
    };
    fields.retain(|name, value| !value.is_null() || ALWAYS.contains(&name.as_str()));
    fields
}

/// Whole seconds as a whole number.
fn seconds(duration: Duration) -> Value {
    match duration.subsec_nanos() {
        0 => json!(duration.as_secs()),
        _ => json!(duration.as_secs_f64()),
    }
}

/// A session keeps every line, so the spans of one that looks as its kind usually does are left out.
fn line_json(line: &WindowLine) -> Value {
    let mut json = json!({"text": line.text(), "kind": line.kind.as_str()});
    let usual = usual_role(line.kind);
    if !matches!(line.line.spans(), [only] if only.role() == usual) {
        json["spans"] = spans_json(&line.line);
    }
    json
}

/// The role of a line without spans; also in `extension/src/views.ts`.
fn usual_role(kind: LineKind) -> Role {
    match kind {
        LineKind::Text => Role::Plain,
        LineKind::Tool => Role::Muted,
    }
}

fn spans_json(line: &Line) -> Value {
    line.spans()
        .iter()
        .map(|span| json!({"text": span.text(), "role": span.role().as_str()}))
        .collect()
}
