//! All that was said in a run, for transcripts.

use std::collections::VecDeque;

use crate::child_protocol::ChildRecord;
use crate::{Happening, Message, Part, RunEvent, RunSummary};

/// How many messages of one run are held; older ones are still in the record on disk.
pub const MAX_MESSAGES_PER_RUN: usize = 500;

/// A run's summary with its messages.
#[derive(Debug, Clone, Default)]
pub struct RunHistory {
    /// What it amounts to.
    pub summary: RunSummary,
    /// What was said, oldest first.
    pub messages: VecDeque<Message>,
    has_prompt: bool,
    /// The whole text that [`RunSummary::text_before_correction`] begins.
    text_before_correction: Option<String>,
}

impl RunHistory {
    /// Folds all events of one run.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.apply(event);
        }
        history
    }

    /// Takes one more event.
    pub fn apply(&mut self, event: &RunEvent) {
        if matches!(event.happening, Happening::Corrected(_)) && self.summary.corrections == 0 {
            self.text_before_correction = self.last_text();
        }
        self.summary.apply(event);
        if let Happening::Said {
            record: ChildRecord::MessageEnded(message),
            ..
        } = &event.happening
        {
            self.heard(message);
        }
    }

    /// The run's output, whole: its report, else what it said before it was told to report, else
    /// its last text.
    pub fn output(&self) -> Option<String> {
        if let Some(finalized) = &self.summary.finalized {
            return finalized.output().map(str::to_owned);
        }
        self.text_before_correction
            .clone()
            .or_else(|| self.last_text())
    }

    fn last_text(&self) -> Option<String> {
        self.messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Assistant(answer) => answer.text(),
                Message::System { .. }
                | Message::User(_)
                | Message::ToolResult(_)
                | Message::Other { .. } => None,
            })
    }

    fn heard(&mut self, message: &Message) {
        let message = match message {
            Message::System { .. } => return,
            Message::User(_) if !self.has_prompt => {
                self.has_prompt = true;
                self.prompt_of_task().unwrap_or_else(|| message.clone())
            }
            other => other.clone(),
        };
        if self.messages.len() == MAX_MESSAGES_PER_RUN {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
    }

    /// Transcripts must not nest, so the first message is the task's own prompt, without the
    /// files and the transcript that were put before it.
    fn prompt_of_task(&self) -> Option<Message> {
        let task = self.summary.task.as_ref()?;
        Some(Message::User(vec![Part::Text(task.prompt.clone())]))
    }
}
