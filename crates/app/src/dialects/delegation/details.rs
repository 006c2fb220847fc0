//! The `details` of a delegation: its windows as data, so that whoever shows the answer can draw
//! them, now or when it is read again.

use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_delegation::{
    Ending, EventSink, RunEvent, StopReason, ThinkingLevel, Timestamp, UsedDefinition,
};
use pi_subagents_windows::{Fleet, PreviewContext, Window, WindowLine};
use serde_json::{Map, Value, json};

/// The windows of a call, filled by its events.
#[derive(Clone)]
pub(crate) struct WindowRecord {
    fleet: Arc<Mutex<Fleet>>,
    /// How many files each task was given, in the order of the tasks.
    file_counts: Arc<[usize]>,
    lines_per_window: usize,
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
        }
    }

    /// The documented shape: `windows`, `maxLinesPerWindow`, `globalStatus`, `sessionIds`.
    pub(crate) fn json(&self) -> Map<String, Value> {
        let fleet = self.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        let windows: Vec<Value> = fleet
            .windows()
            .iter()
            .zip(self.file_counts.iter())
            .map(|(window, files)| window_json(window, *files, self.lines_per_window))
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
        });
        match details {
            Value::Object(details) => details,
            _ => Map::new(),
        }
    }
}

impl EventSink for WindowRecord {
    fn on_event(&mut self, event: &RunEvent) {
        let mut fleet = self.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        fleet.apply(event);
    }
}

/// What is not known is left out.
fn window_json(window: &Window, files: usize, lines: usize) -> Value {
    let summary = window.summary();
    let task = summary.task.as_ref();
    let definition = task.and_then(|task| task.definition.as_ref());
    let ending = summary.ending.as_ref();
    let mut json = json!({
        "name": window.name(),
        "sessionId": window.session().map(ToString::to_string),
        "status": window.status().as_delegation_word(),
        "profileName": definition.map(|used| &used.name),
        "profileInfo": definition.map(|used: &UsedDefinition| &used.summary),
        "provider": window.provider(),
        "model": window.model(),
        "thinkingLevel": window.thinking().map(ThinkingLevel::as_str),
        "lines": window.lines(lines).map(line_json).collect::<Vec<_>>(),
        "allMessages": window.all_lines().map(line_json).collect::<Vec<_>>(),
        "exitCode": ending.map(Ending::exit_code),
        "stopReason": summary.stop_reason.as_ref().map(StopReason::as_word),
        "errorMessage": window.error(),
        "startedAt": summary.started_at.map(Timestamp::as_millisecond),
        "completedAt": summary.ended_at.map(Timestamp::as_millisecond),
        "timeout": window.timeout().map(|timeout| timeout.as_secs_f64()),
        "toolCount": window.tools(),
        "fileCount": files,
        "todoTotal": window.todos().map(|todos| todos.total),
        "todoCompleted": window.todos().map(|todos| todos.completed),
    });
    if let Value::Object(fields) = &mut json {
        fields.retain(|_, value| !value.is_null());
    }
    json
}

fn line_json(line: &WindowLine) -> Value {
    let spans: Vec<Value> = line
        .line
        .spans()
        .iter()
        .map(|span| json!({"text": span.text(), "role": span.role().as_str()}))
        .collect();
    json!({"text": line.text(), "kind": line.kind.as_str(), "spans": spans})
}
