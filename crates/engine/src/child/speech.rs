//! What a model says right now, for whoever listens. While nobody does, its pieces are skipped by
//! their first bytes.

use std::sync::Arc;

use pi_subagents_delegation::child_protocol::{Piece, decode_piece};
use pi_subagents_delegation::{Act, Saying, text};
use tokio::sync::{Notify, watch};

use crate::owner::Extent;

/// More of one message is not held; all of it comes when it is complete.
const LONGEST: usize = 256 << 10;

/// A message as far as somebody listened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// What is said of it.
    pub saying: Saying,
    /// How much of it is wanted.
    extent: Extent,
    /// The part of the message that is being said, and where it begins in the text.
    part: Option<(usize, usize)>,
}

/// Where a child's words go. Clones are the same place.
#[derive(Debug, Clone)]
pub(crate) struct Speech {
    whole: Arc<watch::Sender<Spoken>>,
    newest: Arc<watch::Sender<Spoken>>,
    /// Who wants to know that there is something new.
    news: Arc<Notify>,
}

impl Speech {
    /// Words whose newest are announced at `news`.
    pub(crate) fn new(news: Arc<Notify>) -> Self {
        let empty = |extent| Arc::new(watch::Sender::new(Spoken::new(0, extent)));
        Self {
            whole: empty(Extent::Whole),
            newest: empty(Extent::Newest),
            news,
        }
    }

    /// Tells whether anybody listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.newest.receiver_count() > 0 || self.whole.receiver_count() > 0
    }

    /// Listens from now on.
    pub(crate) fn listen(&self, extent: Extent) -> watch::Receiver<Spoken> {
        let place = match extent {
            Extent::Whole => &self.whole,
            Extent::Newest => &self.newest,
        };
        if place.receiver_count() == 0 {
            // What was held is old: nobody has listened since.
            place.send_modify(|spoken| spoken.begin(spoken.saying.message));
        }
        place.subscribe()
    }

    /// Takes a line with a piece of a message.
    pub(crate) fn heard(&self, line: &[u8]) {
        let Some(piece) = decode_piece(line) else {
            return;
        };
        if self.whole.receiver_count() > 0 {
            self.whole.send_modify(|spoken| spoken.add(&piece));
        }
        if self.newest.receiver_count() > 0 {
            self.newest.send_modify(|spoken| spoken.add(&piece));
            self.news.notify_one();
        }
    }

    /// The message is complete, and another one may follow.
    pub(crate) fn message_ended(&self) {
        for place in [&self.whole, &self.newest] {
            place.send_modify(|spoken| spoken.begin(spoken.saying.message + 1));
        }
    }
}

impl Spoken {
    fn new(message: usize, extent: Extent) -> Self {
        let saying = Saying {
            message,
            ..Saying::default()
        };
        Self {
            saying,
            extent,
            part: None,
        }
    }

    fn begin(&mut self, message: usize) {
        *self = Self::new(message, self.extent);
    }

    fn add(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Thinking => self.saying.act = Act::Thinking,
            Piece::Calling { tool } => {
                let tool = tool.clone().into_owned();
                self.saying.act = Act::Calling { tool };
            }
            Piece::TextStarted { .. } | Piece::Text { .. } | Piece::TextEnded { .. } => {
                self.saying.act = Act::Speaking;
            }
        }
        match piece {
            Piece::TextStarted { part } => _ = self.enter(*part),
            Piece::Text { part, added } => {
                if self.part.is_none_or(|(entered, _)| entered != *part) {
                    self.enter(*part);
                    // Whoever came late has missed its beginning.
                    self.saying.text.push_str(text::CUT_MARK);
                }
                self.push(added);
            }
            // Its end was said already, piece by piece.
            Piece::TextEnded { .. } if self.extent == Extent::Newest => {}
            Piece::TextEnded { part, text } => {
                let start = self.enter(*part);
                self.saying.text.truncate(start);
                self.push(text);
            }
            Piece::Thinking | Piece::Calling { .. } => {}
        }
    }

    /// Goes to a part of the message, and tells where that begins.
    fn enter(&mut self, part: usize) -> usize {
        let text = &mut self.saying.text;
        match self.part {
            Some((entered, start)) if entered == part => start,
            Some(_) | None => {
                if !text.is_empty() {
                    text.push('\n');
                }
                self.part = Some((part, text.len()));
                text.len()
            }
        }
    }

    fn push(&mut self, added: &str) {
        let text = &mut self.saying.text;
        match self.extent {
            Extent::Whole if text.len() + added.len() > LONGEST => {}
            Extent::Whole => text.push_str(added),
            Extent::Newest => self.saying.add(added),
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
        let speech = Speech::new(Arc::default());
        assert!(!speech.is_heard());
        let mut listener = speech.listen(Extent::Whole);
        assert!(speech.is_heard());
        speech.heard(piece(r#"{"type":"thinking_start","contentIndex":0}"#).as_bytes());
        assert_eq!(listener.borrow_and_update().saying.act, Act::Thinking);
        speech.heard(piece(r#"{"type":"text_start","contentIndex":1}"#).as_bytes());
        speech.heard(delta(1, "Hel").as_bytes());
        speech.heard(delta(1, "lo.").as_bytes());
        speech.heard(b"garbage");
        let heard = listener.borrow_and_update().saying.clone();
        assert_eq!((heard.message, heard.text.as_str()), (0, "Hello."));
        assert_eq!(heard.act, Act::Speaking);
        speech.message_ended();
        let heard = listener.borrow_and_update().saying.clone();
        assert_eq!((heard.message, heard.text.as_str()), (1, ""));
        drop(listener);
        assert!(!speech.is_heard());
    }

    #[test]
    fn who_comes_late_sees_that_something_is_missing_until_the_part_is_complete() {
        let speech = Speech::new(Arc::default());
        speech.message_ended();
        let listener = speech.listen(Extent::Whole);
        speech.heard(delta(0, "world").as_bytes());
        assert_eq!(listener.borrow().saying.text, "...world");
        let end = r#"{"type":"text_end","contentIndex":0,"content":"Hello world"}"#;
        speech.heard(piece(end).as_bytes());
        assert_eq!(listener.borrow().saying.text, "Hello world");
        speech.heard(delta(1, "more").as_bytes());
        assert_eq!(listener.borrow().saying.text, "Hello world\n...more");
        drop(listener);
        speech.heard(delta(1, " nobody hears").as_bytes());
        assert_eq!(speech.listen(Extent::Whole).borrow().saying.text, "");
    }

    #[test]
    fn an_endless_message_does_not_fill_the_memory() {
        let speech = Speech::new(Arc::default());
        let listener = speech.listen(Extent::Whole);
        let long = delta(0, &"x".repeat(1 << 10));
        for _ in 0..300 {
            speech.heard(long.as_bytes());
        }
        let length = listener.borrow().saying.text.len();
        assert!(length <= LONGEST + text::CUT_MARK.len(), "{length}");
    }

    #[test]
    fn for_a_window_the_end_of_a_message_is_enough() {
        let speech = Speech::new(Arc::default());
        let listener = speech.listen(Extent::Newest);
        speech.heard(piece(r#"{"type":"text_start","contentIndex":0}"#).as_bytes());
        for number in 0..1000 {
            speech.heard(delta(0, &format!("word {number}, ")).as_bytes());
        }
        let heard = listener.borrow().saying.text.clone();
        assert!(heard.starts_with(text::CUT_MARK), "{heard}");
        assert!(heard.ends_with("word 998, word 999, "), "{heard}");
        assert!(heard.len() <= 8 << 10, "{}", heard.len());
        let end = r#"{"type":"text_end","contentIndex":0,"content":"all of it"}"#;
        speech.heard(piece(end).as_bytes());
        assert_eq!(listener.borrow().saying.text, heard);
    }
}
