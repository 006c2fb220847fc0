//! The dialogs by which the agent asks its client, in pi's records: `extension_ui_request` goes out,
//! and `extension_ui_response` is the answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_vocabulary::NOBODY_ANSWERED;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::abort::Aborted;
use crate::output::Output;

/// The dialogs of one agent. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Dialogs {
    /// The word before each question, by which the client knows it.
    word: Arc<str>,
    output: Output,
    open: Arc<Mutex<HashMap<String, oneshot::Sender<Option<String>>>>>,
    numbers: Arc<AtomicU64>,
}

impl Dialogs {
    pub(crate) fn new(word: &str, output: Output) -> Self {
        Self {
            word: word.into(),
            output,
            open: Arc::default(),
            numbers: Arc::default(),
        }
    }

    /// Asks the client and waits for its answer; `None` if the run is aborted meanwhile.
    pub(crate) async fn ask(&self, question: &Value, aborted: &Aborted) -> Option<String> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let id = format!("ask-{number}");
        let (answer, answered) = oneshot::channel();
        self.lock().insert(id.clone(), answer);
        let request = json!({
            "type": "extension_ui_request",
            "id": id,
            "method": "input",
            "title": format!("{}{question}", self.word),
        });
        self.output.emit(&request).await;
        let answer = tokio::select! {
            () = aborted.raised() => None,
            answer = answered => Some(answer.ok().flatten()),
        };
        self.lock().remove(&id);
        Some(answer?.unwrap_or_else(|| NOBODY_ANSWERED.to_owned()))
    }

    /// Takes the answer of the client; nothing if it cancels. A dialog that is not open is left
    /// alone, as pi does.
    pub(crate) fn answer(&self, id: &str, value: Option<String>) {
        if let Some(answer) = self.lock().remove(id) {
            // The run may have been aborted.
            _ = answer.send(value);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<Option<String>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
