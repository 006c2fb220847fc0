//! A message that a model is still writing. It is no event: it is never recorded, and its next
//! state replaces the last.

use crate::text::CUT_MARK;

/// A message that a model is still writing, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartialMessage {
    /// The number of the model's answers that were complete before.
    pub number: usize,
    /// Its text so far. Only the end is held if nobody needs more.
    pub text: String,
    /// The present activity of the model.
    pub activity: Activity,
}

/// The end of a message for which a window has room.
const NEWEST: usize = 4 << 10;

impl PartialMessage {
    /// Returns the same message with just the end of its text.
    #[must_use]
    pub fn newest(&self) -> Self {
        Self {
            number: self.number,
            text: newest(&self.text),
            activity: self.activity.clone(),
        }
    }

    /// Adds text. Only the end of a long text is kept.
    pub fn add(&mut self, added: &str) {
        self.text.push_str(added);
        if self.text.len() > 2 * NEWEST {
            self.text = newest(&self.text);
        }
    }
}

fn newest(text: &str) -> String {
    if text.len() <= NEWEST {
        return text.to_owned();
    }
    let start = text.ceil_char_boundary(text.len() - NEWEST);
    format!("{CUT_MARK}{}", &text[start..])
}

/// The activity of a model while it writes a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Activity {
    /// It writes text, or nothing is known yet.
    #[default]
    Writing,
    /// It thinks.
    Thinking,
    /// It writes the call of a tool.
    Calling {
        /// The tool.
        tool: String,
    },
}
