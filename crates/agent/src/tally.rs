//! A session in numbers.

use crate::message::Message;
use crate::usage::Usage;

/// What was said and used in a session, taken-back messages and summaries included.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    pub(crate) messages: usize,
    pub(crate) users: usize,
    pub(crate) assistants: usize,
    pub(crate) results: usize,
    pub(crate) calls: usize,
    pub(crate) usage: Usage,
}

impl Tally {
    pub(crate) fn add(&mut self, message: &Message) {
        self.messages += 1;
        match message {
            Message::User(_) => self.users += 1,
            Message::ToolResult(_) => self.results += 1,
            Message::Assistant(answer) => {
                self.assistants += 1;
                self.calls += answer.tool_calls().count();
                self.usage += answer.usage;
            }
            Message::System(_) | Message::CompactionSummary(_) | Message::Other(_) => {}
        }
    }

    /// Adds what a call took that left no message.
    pub(crate) fn add_usage(&mut self, usage: Usage) {
        self.usage += usage;
    }
}
