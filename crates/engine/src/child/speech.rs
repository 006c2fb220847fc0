//! What a model says right now, for whoever listens. While nobody does, its pieces are skipped by
//! their first bytes like before.

use std::sync::Arc;

use pi_subagents_delegation::child_protocol::{Piece, decode_piece};
use pi_subagents_delegation::text;
use tokio::sync::watch;

use crate::owner::Act;

/// More of one message is not held; all of it comes when it is complete.
const LONGEST: usize = 256 << 10;

/// What a model says and has not said to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// How many of its answers were complete before.
    pub message: usize,
    /// What it said of this one, as far as somebody listened.
    pub text: String,
    /// What it does.
    pub act: Act,
    /// The part of the message that is being said, and where it begins in the text.
    part: Option<(usize, usize)>,
}

/// Where a child's words go. Clones are the same place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Speech(Arc<watch::Sender<Spoken>>);

impl Speech {
    /// Tells whether anybody listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Listens from now on.
    pub(crate) fn listen(&self) -> watch::Receiver<Spoken> {
        if !self.is_heard() {
            // What was held is old: nobody has listened since.
            self.0.send_modify(|spoken| spoken.begin(spoken.message));
        }
        self.0.subscribe()
    }

    /// Takes a line with a piece of a message.
    pub(crate) fn heard(&self, line: &[u8]) {
        if let Some(piece) = decode_piece(line) {
            self.0.send_modify(|spoken| spoken.add(&piece));
        }
    }

    /// The message is complete, and another one may follow.
    pub(crate) fn message_ended(&self) {
        self.0
            .send_modify(|spoken| spoken.begin(spoken.message + 1));
    }
}

impl Spoken {
    fn begin(&mut self, message: usize) {
        *self = Self {
            message,
            ..Self::default()
        };
    }

    fn add(&mut self, piece: &Piece<'_>) {
        self.act = match piece {
            Piece::Thinking => Act::Thinking,
            Piece::Calling { tool } => Act::Calling {
                tool: tool.clone().into_owned(),
            },
            Piece::TextStarted { .. } | Piece::Text { .. } | Piece::TextEnded { .. } => {
                Act::Speaking
            }
        };
        match piece {
            Piece::TextStarted { part } => _ = self.enter(*part),
            Piece::Text { part, added } => {
                if self.part.is_none_or(|(entered, _)| entered != *part) {
                    self.enter(*part);
                    // Whoever came late has missed its beginning.
                    self.text.push_str(text::CUT_MARK);
                }
                self.push(added);
            }
            Piece::TextEnded { part, text } => {
                let start = self.enter(*part);
                self.text.truncate(start);
                self.push(text);
            }
            Piece::Thinking | Piece::Calling { .. } => {}
        }
    }

    /// Goes to a part of the message, and tells where that begins.
    fn enter(&mut self, part: usize) -> usize {
        match self.part {
            Some((entered, start)) if entered == part => start,
            Some(_) | None => {
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.part = Some((part, self.text.len()));
                self.text.len()
            }
        }
    }

    fn push(&mut self, added: &str) {
        if self.text.len() + added.len() <= LONGEST {
            self.text.push_str(added);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(event: &str) -> String {
        format!(r#"{{"type":"message_update","assistantMessageEvent":{event}}}"#)
    }

    fn delta(part: usize, text: &str) -> String {
        piece(&format!(
            r#"{{"type":"text_delta","contentIndex":{part},"delta":"{text}"}}"#
        ))
    }

    #[test]
    fn a_listener_hears_a_message_grow_until_it_is_complete() {
        let speech = Speech::default();
        assert!(!speech.is_heard());
        let mut listener = speech.listen();
        assert!(speech.is_heard());
        speech.heard(piece(r#"{"type":"thinking_start","contentIndex":0}"#).as_bytes());
        assert_eq!(listener.borrow_and_update().act, Act::Thinking);
        speech.heard(piece(r#"{"type":"text_start","contentIndex":1}"#).as_bytes());
        speech.heard(delta(1, "Hel").as_bytes());
        speech.heard(delta(1, "lo.").as_bytes());
        speech.heard(b"garbage");
        let heard = listener.borrow_and_update().clone();
        assert_eq!((heard.message, heard.text.as_str()), (0, "Hello."));
        assert_eq!(heard.act, Act::Speaking);
        speech.message_ended();
        let heard = listener.borrow_and_update().clone();
        assert_eq!((heard.message, heard.text.as_str()), (1, ""));
        drop(listener);
        assert!(!speech.is_heard());
    }

    #[test]
    fn who_comes_late_sees_that_something_is_missing_until_the_part_is_complete() {
        let speech = Speech::default();
        speech.message_ended();
        let listener = speech.listen();
        speech.heard(delta(0, "world").as_bytes());
        assert_eq!(listener.borrow().text, "...world");
        let end = r#"{"type":"text_end","contentIndex":0,"content":"Hello world"}"#;
        speech.heard(piece(end).as_bytes());
        assert_eq!(listener.borrow().text, "Hello world");
        speech.heard(delta(1, "more").as_bytes());
        assert_eq!(listener.borrow().text, "Hello world\n...more");
        drop(listener);
        speech.heard(delta(1, " nobody hears").as_bytes());
        assert_eq!(speech.listen().borrow().text, "");
    }

    #[test]
    fn an_endless_message_does_not_fill_the_memory() {
        let speech = Speech::default();
        let listener = speech.listen();
        let long = delta(0, &"x".repeat(1 << 10));
        for _ in 0..300 {
            speech.heard(long.as_bytes());
        }
        let length = listener.borrow().text.len();
        assert!(length <= LONGEST + text::CUT_MARK.len(), "{length}");
    }
}
