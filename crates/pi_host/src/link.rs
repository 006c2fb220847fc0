//! The pi we belong to: messages and questions to it, and the session it is in.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_view::Line;
use pi_subagents_vocabulary::Status;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::connection::Connection;
use super::wire;
use pi_subagents_calls::{SeenLines, WindowRecord};

/// The time for which we wait for pi beyond the time that pi waits for somebody.
const GRACE: Duration = Duration::from_secs(5);

/// The link by which all our parts talk to pi. Clones reach the same pi.
#[derive(Clone)]
pub(crate) struct HostLink {
    connection: Connection,
    state: Arc<LinkState>,
}

struct LinkState {
    /// The id of the session pi is in, or was in last.
    session: Mutex<String>,
    idle: watch::Sender<bool>,
}

/// The importance of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    /// Returns how much the end of a run matters.
    pub(crate) fn of(status: Status) -> Self {
        match status {
            Status::Queued | Status::Running | Status::Completed => Self::Info,
            Status::Waiting | Status::Parked | Status::Stopped => Self::Warning,
            Status::Failed => Self::Error,
        }
    }
}

/// A message for a session of pi.
pub(crate) struct SessionMessage {
    pub(crate) custom_type: &'static str,
    pub(crate) content: String,
    pub(crate) details: Value,
    /// True if the model is to read it now.
    pub(crate) starts_turn: bool,
}

impl HostLink {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            state: Arc::new(LinkState {
                session: Mutex::default(),
                idle: watch::Sender::new(true),
            }),
        }
    }

    /// Keeps an entry in a session of pi. Once pi is in another session it is not kept.
    pub(crate) fn append_entry(&self, session: &str, custom_type: &str, data: &Value) {
        if *self.session() == session {
            let params = json!({"sessionId": session, "customType": custom_type, "data": data});
            self.connection.notify("entry/append", &params);
        }
    }

    /// Shows something for a moment.
    pub(crate) fn notify(&self, message: &str, level: Level) {
        let level = match level {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let params = json!({"message": message, "level": level});
        self.connection.notify("ui/notify", &params);
    }

    /// Shows the output of a command; a line is a list of spans.
    pub(crate) fn show(&self, title: &str, lines: &[Value]) {
        let params = json!({"title": title, "lines": lines});
        self.connection.notify("ui/show", &params);
    }

    /// Lets somebody read lines, which are not kept; returns when they have.
    pub(crate) async fn view(&self, title: &str, lines: &[Line]) {
        let lines: Vec<Value> = lines.iter().map(spans_json).collect();
        let params = json!({"title": title, "lines": lines});
        // It is over, whatever became of it.
        _ = self.connection.ask("ui/view", &params).await;
    }

    /// Lets somebody choose; `None` if nobody does.
    pub(crate) async fn select(&self, title: &str, options: &[String]) -> Option<String> {
        let params = json!({"title": title, "options": options});
        self.value("ui/select", &params).await
    }

    /// Lets somebody choose within a time; `None` if nobody does.
    pub(crate) async fn select_within(
        &self,
        title: &str,
        options: &[String],
        patience: Duration,
    ) -> Option<String> {
        let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let params = json!({"title": title, "options": options, "timeout": milliseconds});
        // Pi takes its dialog away by itself; an answer that is lost must not hold up the call.
        let answer = self.value("ui/select", &params);
        timeout(patience + GRACE, answer).await.ok().flatten()
    }

    /// Asks for a yes; `None` if nobody answers.
    pub(crate) async fn confirm(&self, title: &str, message: &str) -> Option<bool> {
        let params = json!({"title": title, "message": message});
        let answer = self.connection.ask("ui/confirm", &params).await?;
        answer.get("confirmed")?.as_bool()
    }

    /// Asks for a line of text.
    pub(crate) async fn input(&self, title: &str, placeholder: &str) -> Option<String> {
        let params = json!({"title": title, "placeholder": placeholder});
        self.value("ui/input", &params).await
    }

    /// Asks for a long text.
    pub(crate) async fn editor(&self, title: &str, prefill: &str) -> Option<String> {
        let params = json!({"title": title, "prefill": prefill});
        self.value("ui/editor", &params).await
    }

    async fn value(&self, method: &str, params: &Value) -> Option<String> {
        let answer = self.connection.ask(method, params).await?;
        Some(answer.get("value")?.as_str()?.to_owned())
    }

    /// Sends the progress of a call; a slow reader gets fewer of these updates.
    pub(super) fn update(&self, call_id: &str, windows: &WindowRecord, seen: SeenLines) {
        let line = || {
            let details = windows.update(seen)?;
            wire::update_line(call_id, &windows.text(), &details)
        };
        self.connection.send_if_calm(line);
    }

    pub(super) fn set_idle(&self, idle: bool) {
        self.state.idle.send_replace(idle);
    }

    /// Returns the id of the session pi is in.
    pub(crate) fn session_id(&self) -> String {
        self.session().clone()
    }

    pub(super) fn set_session(&self, id: &str) {
        id.clone_into(&mut self.session());
    }

    fn session(&self) -> MutexGuard<'_, String> {
        let session = self.state.session.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message into a session of pi. Only while pi is idle: a running model would read it.
    /// Returns whether pi has taken it.
    pub(crate) async fn send_message(&self, session: &str, message: &SessionMessage) -> bool {
        if *self.session() != session {
            return false;
        }
        let params = json!({
            "sessionId": session,
            "customType": message.custom_type,
            "content": message.content,
            "details": message.details,
            "startsTurn": message.starts_turn,
        });
        self.connection.ask("message/send", &params).await.is_some()
    }

    /// Returns a receiver of whether pi's agent is idle, now and from now on.
    pub(crate) fn idle(&self) -> watch::Receiver<bool> {
        self.state.idle.subscribe()
    }

    /// Sets the lines above pi's editor, or takes them away if there are none. Only a pi with a
    /// terminal shows them.
    pub(crate) fn set_widget(&self, lines: &[Line]) {
        let lines: Vec<Value> = lines.iter().map(spans_json).collect();
        self.connection
            .notify("ui/widget", &json!({"lines": lines}));
    }

    /// Sets the line in pi's footer, or takes it away.
    pub(crate) fn set_status(&self, text: Option<&str>) {
        let params = match text {
            Some(text) => json!({"text": text}),
            None => json!({}),
        };
        self.connection.notify("ui/status", &params);
    }
}

/// Returns a line as pi's side reads it.
pub(super) fn spans_json(line: &Line) -> Value {
    let spans = line.spans().iter();
    spans
        .map(|span| json!({"text": span.text(), "role": span.role().as_str()}))
        .collect()
}
