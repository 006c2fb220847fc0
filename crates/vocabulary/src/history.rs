//! All messages of a run, for transcripts.

use std::collections::VecDeque;

use crate::child_protocol::ChildRecord;
use crate::{Happening, Message, Part, RunEvent, RunSummary};

/// The number of messages of one run that are held; older ones are still in the record on disk.
pub const MAX_MESSAGES_PER_RUN: usize = 500;

/// The number of bytes of messages that are held; the last message is held however long it is.
const MAX_BYTES_PER_RUN: usize = 32 << 20;

/// The messages of a run that a [`RunHistory`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeldMessages {
    /// The newest ones, within the bounds.
    #[default]
    Newest,
    /// The last answer with a text alone: enough for [`RunHistory::output`], and a long record costs
    /// nothing.
    LastText,
}

/// A run's summary with its messages.
#[derive(Debug, Clone, Default)]
pub struct RunHistory {
    /// The run's summary.
    pub summary: RunSummary,
    /// The messages, oldest first.
    pub messages: VecDeque<Message>,
    held: HeldMessages,
    /// The parts that are missing in the run's record, if there are any.
    pub gap: Option<Gap>,
    /// The size of all messages in bytes, about.
    bytes: usize,
    has_prompt: bool,
    /// The whole text that [`RunSummary::text_before_correction`] begins.
    text_before_correction: Option<String>,
}

/// The parts that are missing in a run's events, and the output that is known all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gap {
    /// The reasons, as sentences.
    pub reasons: Vec<String>,
    /// The run's output as its result file has it, because the events may end before it.
    pub output: Option<String>,
}

impl RunHistory {
    /// Begins a history that holds these messages.
    pub fn holding(held: HeldMessages) -> Self {
        Self {
            held,
            ..Self::default()
        }
    }

    /// Folds all events of one run.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.apply(event);
        }
        history
    }

    /// Adds one more event of the run.
    pub fn apply(&mut self, event: &RunEvent) {
        if is_complaint(&event.happening)
            && self.summary.corrections == 0
            && self.summary.rejected.is_none()
        {
            self.text_before_correction = self.last_text();
        }
        if matches!(event.happening, Happening::Gated(_)) {
            self.text_before_correction = None;
        }
        self.summary.apply(event);
        if let Happening::Said {
            record: ChildRecord::MessageEnded(message),
            ..
        } = &event.happening
        {
            self.add(message);
        }
    }

    /// Returns the whole output of the run: its report, else its text before the first correction,
    /// else its last text.
    pub fn output(&self) -> Option<String> {
        if let Some(gap) = &self.gap {
            return gap.output.clone();
        }
        if let Some(finalized) = &self.summary.finalized {
            return finalized.output().map(str::to_owned);
        }
        self.text_before_correction
            .clone()
            .or_else(|| self.last_text())
    }

    /// Returns the last text, which is whole while its message is held.
    fn last_text(&self) -> Option<String> {
        let held = self
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Assistant(answer) => answer.text(),
                Message::System(_)
                | Message::User(_)
                | Message::ToolResult(_)
                | Message::Other { .. } => None,
            });
        held.or_else(|| self.summary.last_text.clone())
    }

    fn add(&mut self, message: &Message) {
        match self.held {
            HeldMessages::Newest => self.add_newest(message),
            HeldMessages::LastText => self.take_text(message),
        }
    }

    fn take_text(&mut self, message: &Message) {
        if matches!(message, Message::Assistant(answer) if answer.text().is_some()) {
            self.messages.clear();
            self.messages.push_back(message.clone());
        }
    }

    fn add_newest(&mut self, message: &Message) {
        let message = match message {
            Message::System(_) => return,
            Message::User(_) if !self.has_prompt => {
                self.has_prompt = true;
                self.prompt_of_task().unwrap_or_else(|| message.clone())
            }
            other => other.clone(),
        };
        self.bytes += size(&message);
        self.messages.push_back(message);
        while self.messages.len() > MAX_MESSAGES_PER_RUN
            || (self.bytes > MAX_BYTES_PER_RUN && self.messages.len() > 1)
        {
            let oldest = self.messages.pop_front();
            self.bytes -= oldest.as_ref().map_or(0, size);
        }
    }

    /// Transcripts must not nest, so the first message is the task's own prompt, without the
    /// files and the transcript that were put before it.
    fn prompt_of_task(&self) -> Option<Message> {
        let task = self.summary.task.as_ref()?;
        Some(Message::User(vec![Part::Text(task.prompt.clone())]))
    }
}

/// Returns whether the child is told that its report is missing or wrong.
fn is_complaint(happening: &Happening) -> bool {
    match happening {
        Happening::Corrected(_) => true,
        Happening::Reported(report) => report.misfit.is_some(),
        _ => false,
    }
}

/// Returns the size of a message in bytes, about.
fn size(message: &Message) -> usize {
    let sizes = message.parts().iter().map(|part| match part {
        Part::Text(text) | Part::Thinking(text) => text.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
        Part::Image { mime_type } => mime_type.len(),
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::{AssistantMessage, ToolResult};

    fn result(bytes: usize) -> Message {
        Message::ToolResult(ToolResult {
            parts: vec![Part::Text("x".repeat(bytes))],
            ..ToolResult::default()
        })
    }

    fn history_of(messages: impl IntoIterator<Item = Message>) -> RunHistory {
        let mut history = RunHistory::default();
        for message in messages {
            history.summary.add_message(&message);
            history.add(&message);
        }
        history
    }

    #[test]
    fn neither_many_nor_long_messages_fill_the_memory() {
        let many = history_of((0..2 * MAX_MESSAGES_PER_RUN).map(|_| result(1)));
        assert_eq!((many.messages.len(), many.bytes), (500, 500));
        let long = history_of((0..5).map(|_| result(MAX_BYTES_PER_RUN / 2)));
        assert_eq!((long.messages.len(), long.bytes), (2, MAX_BYTES_PER_RUN));
        let longest = history_of([result(1), result(2 * MAX_BYTES_PER_RUN)]);
        assert_eq!(longest.messages.len(), 1);
    }

    fn answer(text: &str) -> Message {
        Message::Assistant(AssistantMessage {
            parts: vec![Part::Text(text.to_owned())],
            ..AssistantMessage::default()
        })
    }

    #[test]
    fn the_last_text_is_held_alone_and_whole() {
        let mut history = RunHistory::holding(HeldMessages::LastText);
        let whole = "x".repeat(1 << 20);
        for message in [answer("Before."), result(9), answer(&whole), result(9)] {
            history.summary.add_message(&message);
            history.add(&message);
        }
        assert_eq!(history.messages, [answer(&whole)]);
        assert_eq!(history.output(), Some(whole));
    }

    #[test]
    fn the_last_text_outlives_its_message() {
        let answer = answer("The finding.");
        let results = (0..MAX_MESSAGES_PER_RUN).map(|_| result(1));
        let history = history_of([answer].into_iter().chain(results));
        assert_eq!(history.output().as_deref(), Some("The finding."));
    }
}
