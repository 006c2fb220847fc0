//! The message that a model is still writing, for readers who follow it. While there are no
//! readers, the updates of a child are skipped by their first bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pi_subagents_vocabulary::child_protocol::{MessageUpdate, decode_update};
use pi_subagents_vocabulary::{Activity, PartialMessage, text};
use tokio::sync::{Notify, watch};

/// The number of bytes of one message that are held; all of it comes when it is complete.
const LONGEST: usize = 256 << 10;

/// The part of a partial message that its reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All of it, as fast as it comes.
    Whole,
    /// Its newest lines, a few times a second.
    Newest,
}

/// The message that the model of one run is writing. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct PartialFeed {
    whole: Arc<watch::Sender<Growing>>,
    newest: Arc<watch::Sender<Growing>>,
    /// The number of messages that have ended.
    ended: Arc<AtomicUsize>,
    /// Notified when readers of the newest lines have something new.
    news: Arc<Notify>,
}

/// Reads the message that the model of a run is writing.
#[derive(Debug)]
pub struct PartialReader(watch::Receiver<Growing>);

/// A message as far as it has come since somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Growing {
    message: PartialMessage,
    /// The part of it that is wanted.
    extent: Extent,
    /// The part of the message that is being written, and where it begins in the text.
    part: Option<(usize, usize)>,
}

impl PartialFeed {
    /// Makes a feed that announces new lines at `news`.
    pub(crate) fn new(news: Arc<Notify>) -> Self {
        let empty = |extent| Arc::new(watch::Sender::new(Growing::new(0, extent)));
        Self {
            whole: empty(Extent::Whole),
            newest: empty(Extent::Newest),
            ended: Arc::default(),
            news,
        }
    }

    /// Returns whether anybody reads along.
    pub(crate) fn has_readers(&self) -> bool {
        self.newest.receiver_count() > 0 || self.whole.receiver_count() > 0
    }

    /// Makes a reader that gets the updates from now on.
    pub(crate) fn subscribe(&self, extent: Extent) -> PartialReader {
        let place = match extent {
            Extent::Whole => &self.whole,
            Extent::Newest => &self.newest,
        };
        let is_first = place.receiver_count() == 0;
        let mut reader = place.subscribe();
        if is_first {
            // The text that is held is old: there were no readers since. Whoever ends a message now
            // sees this reader, or has counted the message.
            place.send_modify(|growing| growing.begin(self.ended.load(Ordering::SeqCst)));
            reader.mark_unchanged();
        }
        PartialReader(reader)
    }

    /// Adds a line that updates the message.
    pub(crate) fn add(&self, line: &[u8]) {
        let Some(update) = decode_update(line) else {
            return;
        };
        if self.whole.receiver_count() > 0 {
            self.whole.send_modify(|growing| growing.add(&update));
        }
        if self.newest.receiver_count() > 0 {
            self.newest.send_modify(|growing| growing.add(&update));
            self.news.notify_one();
        }
    }

    /// Ends the message; another one may follow.
    pub(crate) fn message_ended(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
        for place in [&self.whole, &self.newest] {
            if place.receiver_count() > 0 {
                place.send_modify(|growing| growing.begin(self.ended.load(Ordering::SeqCst)));
            }
        }
    }
}

impl PartialReader {
    /// Makes the next call of [`changed`](Self::changed) return at once with the present message.
    pub fn begin_now(&mut self) {
        self.0.mark_changed();
    }

    /// Waits for more; `None` once the run is over.
    pub async fn changed(&mut self) -> Option<PartialMessage> {
        self.0.changed().await.ok()?;
        Some(self.latest())
    }

    /// Returns the message if it has changed since it was last returned.
    pub(crate) fn news(&mut self) -> Option<PartialMessage> {
        let has_changed = self.0.has_changed().unwrap_or(false);
        has_changed.then(|| self.latest())
    }

    /// Returns a copy, because the reader of the child's output waits while the message is
    /// borrowed.
    fn latest(&mut self) -> PartialMessage {
        self.0.borrow_and_update().message.clone()
    }
}

impl Growing {
    fn new(number: usize, extent: Extent) -> Self {
        let message = PartialMessage {
            number,
            ..PartialMessage::default()
        };
        Self {
            message,
            extent,
            part: None,
        }
    }

    fn begin(&mut self, number: usize) {
        *self = Self::new(number, self.extent);
    }

    fn add(&mut self, update: &MessageUpdate<'_>) {
        match update {
            MessageUpdate::Thinking => self.message.activity = Activity::Thinking,
            MessageUpdate::Calling { tool } => {
                let tool = tool.clone().into_owned();
                self.message.activity = Activity::Calling { tool };
            }
            MessageUpdate::TextStarted { .. }
            | MessageUpdate::Text { .. }
            | MessageUpdate::TextEnded { .. } => {
                self.message.activity = Activity::Writing;
            }
        }
        match update {
            MessageUpdate::TextStarted { part } => _ = self.enter(*part),
            MessageUpdate::Text { part, added } => {
                if self.part.is_none_or(|(entered, _)| entered != *part) {
                    self.enter(*part);
                    // A reader that came late has missed the beginning.
                    self.message.text.push_str(text::CUT_MARK);
                }
                self.push(added);
            }
            // The end of the part has come already, piece by piece.
            MessageUpdate::TextEnded { .. } if self.extent == Extent::Newest => {}
            MessageUpdate::TextEnded { part, text } => {
                let start = self.enter(*part);
                self.message.text.truncate(start);
                self.push(text);
            }
            MessageUpdate::Thinking | MessageUpdate::Calling { .. } => {}
        }
    }

    /// Goes to a part of the message, and returns where it begins in the text.
    fn enter(&mut self, part: usize) -> usize {
        let text = &mut self.message.text;
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
        let text = &mut self.message.text;
        match self.extent {
            Extent::Whole if text.len() + added.len() > LONGEST => {}
            Extent::Whole => text.push_str(added),
            Extent::Newest => self.message.add(added),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(event: &str) -> String {
        format!(r#"{{"type":"message_update","assistantMessageEvent":{event}}}"#)
    }

    fn delta(part: usize, text: &str) -> String {
        update(&format!(
            r#"{{"type":"text_delta","contentIndex":{part},"delta":"{text}"}}"#
        ))
    }

    #[test]
    fn a_reader_sees_a_message_grow_until_it_is_complete() {
        let feed = PartialFeed::new(Arc::default());
        assert!(!feed.has_readers());
        let mut reader = feed.subscribe(Extent::Whole);
        assert!(feed.has_readers());
        feed.add(update(r#"{"type":"thinking_start","contentIndex":0}"#).as_bytes());
        assert_eq!(reader.latest().activity, Activity::Thinking);
        feed.add(update(r#"{"type":"text_start","contentIndex":1}"#).as_bytes());
        feed.add(delta(1, "Hel").as_bytes());
        feed.add(delta(1, "lo.").as_bytes());
        feed.add(b"garbage");
        let read = reader.latest();
        assert_eq!((read.number, read.text.as_str()), (0, "Hello."));
        assert_eq!(read.activity, Activity::Writing);
        feed.message_ended();
        let read = reader.latest();
        assert_eq!((read.number, read.text.as_str()), (1, ""));
        drop(reader);
        assert!(!feed.has_readers());
    }

    #[test]
    fn who_comes_late_sees_that_something_is_missing_until_the_part_is_complete() {
        let feed = PartialFeed::new(Arc::default());
        feed.message_ended();
        let mut reader = feed.subscribe(Extent::Whole);
        feed.add(delta(0, "world").as_bytes());
        assert_eq!(reader.latest().text, "...world");
        let end = r#"{"type":"text_end","contentIndex":0,"content":"Hello world"}"#;
        feed.add(update(end).as_bytes());
        assert_eq!(reader.latest().text, "Hello world");
        feed.add(delta(1, "more").as_bytes());
        assert_eq!(reader.latest().text, "Hello world\n...more");
        drop(reader);
        feed.add(delta(1, " nobody reads").as_bytes());
        assert_eq!(feed.subscribe(Extent::Whole).latest().text, "");
    }

    #[test]
    fn an_endless_message_does_not_fill_the_memory() {
        let feed = PartialFeed::new(Arc::default());
        let mut reader = feed.subscribe(Extent::Whole);
        let long = delta(0, &"x".repeat(1 << 10));
        for _ in 0..300 {
            feed.add(long.as_bytes());
        }
        let length = reader.latest().text.len();
        assert!(length <= LONGEST + text::CUT_MARK.len(), "{length}");
    }

    #[test]
    fn for_a_window_the_end_of_a_message_is_enough() {
        let feed = PartialFeed::new(Arc::default());
        let mut reader = feed.subscribe(Extent::Newest);
        feed.add(update(r#"{"type":"text_start","contentIndex":0}"#).as_bytes());
        for number in 0..1000 {
            feed.add(delta(0, &format!("word {number}, ")).as_bytes());
        }
        let read = reader.latest().text;
        assert!(read.starts_with(text::CUT_MARK), "{read}");
        assert!(read.ends_with("word 998, word 999, "), "{read}");
        assert!(read.len() <= 8 << 10, "{}", read.len());
        let end = r#"{"type":"text_end","contentIndex":0,"content":"all of it"}"#;
        feed.add(update(end).as_bytes());
        assert_eq!(reader.latest().text, read);
    }
}
