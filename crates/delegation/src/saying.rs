//! What a model says right now. It is no event: it is never recorded, and the next one replaces it.

use crate::text::CUT_MARK;

/// What a model says and has not said to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Saying {
    /// How many of its answers were complete before.
    pub message: usize,
    /// What it said of this one; of a long one maybe only the end.
    pub text: String,
    /// What it does.
    pub act: Act,
}

/// The end of a message for which a window has room.
const NEWEST: usize = 4 << 10;

impl Saying {
    /// The same with just the end of its text.
    #[must_use]
    pub fn newest(&self) -> Self {
        Self {
            message: self.message,
            text: newest(&self.text),
            act: self.act.clone(),
        }
    }

    /// Says more, of which only the end is kept.
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

/// What a model does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Act {
    /// It speaks, or nothing is known of it.
    #[default]
    Speaking,
    /// It thinks.
    Thinking,
    /// It writes the call of a tool.
    Calling {
        /// The tool.
        tool: String,
    },
}
