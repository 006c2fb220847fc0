//! What happened in a run, for everybody who shows it: one fold turns events into items, and the
//! windows, the log, `attach`, the commands and the pages only draw them.
//!
//! Items borrow from their event, so nobody pays for what is not shown, and a reader who begins in
//! the middle of a record needs nothing from before. Whoever holds items decides how many.
//!
//! An event that is new in the vocabulary needs an arm in [`Story::apply`] and its words in
//! `remark.rs`; the doors show it then.

mod call_state;
mod remark;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    AssistantMessage, Ending, Happening, Message, Part, RunEvent, RungStep, Timestamp, ToolCall,
    ToolResult,
};
use serde_json::Value;

pub use call_state::CallState;
pub use remark::{Remark, RemarkKind, Retry};

/// The number of messages that were sent to a child and that it may still repeat.
const MOST_SENT: usize = 64;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Item<'a> {
    /// The time at which it happened.
    pub at: Timestamp,
    /// The number of the item among those of its event. Parts of an answer keep the number that
    /// they have there, so that their whole texts can be found in the record again.
    pub number: usize,
    /// The thing itself.
    pub what: What<'a>,
}

/// The kinds of things that happen in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum What<'a> {
    /// The task of the run. It stands where the task was accepted, and the first message of the
    /// child, which repeats it, is no item.
    Task(&'a str),
    /// The sub-agent got this message from somebody else than us, or we do not know from whom.
    Prompt(Cow<'a, str>),
    /// The model wrote this, which is Markdown.
    Words(&'a str),
    /// The model reasoned.
    Thought(&'a str),
    /// The model returned a picture of this type.
    Picture(&'a str),
    /// The model called a tool.
    Call(&'a ToolCall),
    /// The tool of a call began to work.
    Begun {
        /// The id of the call.
        call: &'a str,
    },
    /// The tool of a call is done; its answer follows.
    Done {
        /// The id of the call.
        call: &'a str,
        /// True if the tool failed.
        is_error: bool,
        /// The details of the result beside its text.
        details: Option<&'a Value>,
    },
    /// A tool answered.
    Answer(&'a ToolResult),
    /// An answer of the model is complete. It stands behind the items of its parts.
    Turn(&'a AssistantMessage),
    /// The model is asked again after a failure.
    Retry(Retry<'a>),
    /// Something that a person should know, or a line that the child printed.
    Remark(Remark<'a>),
    /// The run is over.
    Ended(&'a Ending),
}

/// A fold over the events of one run. It begins anywhere in a record; only a story that sees the
/// task being accepted knows that the first message of the child repeats it.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// True if the task was an item and the child has not repeated it yet.
    is_task_due: bool,
    /// The messages that were sent to the child and that it has not repeated yet.
    sent: VecDeque<String>,
    /// The error of the last answer, until something else happens in the conversation.
    last_error: Option<String>,
}

impl Story {
    /// Takes in the next event and returns its items, in order; most events have one or none.
    pub fn apply<'a>(&mut self, event: &'a RunEvent) -> Vec<Item<'a>> {
        let (at, happening) = (event.at, &event.happening);
        let numbered = match happening {
            Happening::Accepted(task) => {
                self.is_task_due = true;
                one(What::Task(&task.prompt))
            }
            Happening::Said { record, .. } => self.record(record),
            Happening::Steered(message) | Happening::Corrected(message) => {
                self.note_sent(message);
                remark::of(happening).map_or_else(Vec::new, one)
            }
            Happening::FellBack(change) => one(remark::of_change(change, at)),
            Happening::Rung(rung) => {
                match rung.step {
                    RungStep::Warned | RungStep::Paused | RungStep::Queued | RungStep::WentOn => {}
                    RungStep::Steered | RungStep::WrappedUp => self.note_sent(&rung.words),
                }
                remark::of(happening).map_or_else(Vec::new, one)
            }
            Happening::Ended(ending) => one(What::Ended(ending)),
            Happening::Placed(_)
            | Happening::Started(_)
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Granted(_)
            | Happening::Warned(_)
            | Happening::Reported(_)
            | Happening::Gated(_)
            | Happening::Asked(_)
            | Happening::Answered(_)
            | Happening::Stopping(_) => remark::of(happening).map_or_else(Vec::new, one),
        };
        let items = numbered.into_iter();
        items
            .map(|(number, what)| Item { at, number, what })
            .collect()
    }

    fn record<'a>(&mut self, record: &'a ChildRecord) -> Vec<(usize, What<'a>)> {
        match record {
            ChildRecord::MessageEnded(message) => self.numbered(message),
            ChildRecord::ToolStarted { call_id, .. } => one(What::Begun { call: call_id }),
            ChildRecord::ToolEnded {
                call_id,
                is_error,
                details,
                ..
            } => one(What::Done {
                call: call_id,
                is_error: *is_error,
                details: details.as_ref(),
            }),
            ChildRecord::Retrying {
                attempt,
                max_attempts,
                delay_ms,
                error,
            } => one(What::Retry(Retry {
                attempt: *attempt,
                max_attempts: *max_attempts,
                delay: Duration::from_millis(*delay_ms),
                error,
                is_explained: self.last_error.take().as_ref() == Some(error),
            })),
            record => remark::of_record(record).map_or_else(Vec::new, one),
        }
    }

    /// Returns the items of a message, for a reader who has messages and no events.
    pub fn message<'a>(&mut self, message: &'a Message) -> Vec<What<'a>> {
        let items = self.numbered(message).into_iter();
        items.map(|(_, what)| what).collect()
    }

    fn numbered<'a>(&mut self, message: &'a Message) -> Vec<(usize, What<'a>)> {
        self.last_error = None;
        match message {
            Message::System(_) => Vec::new(),
            Message::User(parts) => {
                let words = words(parts);
                if self.is_repetition(&words) {
                    return Vec::new();
                }
                one(What::Prompt(Cow::Owned(words)))
            }
            Message::Assistant(answer) => {
                self.last_error.clone_from(&answer.error);
                let parts = answer.parts.iter().enumerate();
                parts
                    .filter_map(|(number, part)| Some((number, part_of_answer(part)?)))
                    .chain([(answer.parts.len(), What::Turn(answer))])
                    .collect()
            }
            Message::ToolResult(result) => one(What::Answer(result)),
            Message::Other { role, parts } => one(What::Remark(Remark {
                kind: RemarkKind::Other(role),
                text: Cow::Owned(words(parts)),
            })),
        }
    }

    /// Notes a message to the child, which repeats it as a message of its own once it reads it.
    fn note_sent(&mut self, message: &str) {
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(message.trim().to_owned());
    }

    /// Returns whether a message to the child was an item already. The first message may have files
    /// and a transcript before the task, so it is not compared.
    fn is_repetition(&mut self, words: &str) -> bool {
        if std::mem::take(&mut self.is_task_due) {
            return true;
        }
        let place = self.sent.iter().position(|sent| sent == words.trim());
        place.and_then(|place| self.sent.remove(place)).is_some()
    }
}

/// Returns the only item of an event.
fn one(what: What<'_>) -> Vec<(usize, What<'_>)> {
    vec![(0, what)]
}

fn part_of_answer(part: &Part) -> Option<What<'_>> {
    match part {
        Part::Text(words) if words.trim().is_empty() => None,
        Part::Thinking(words) if words.trim().is_empty() => None,
        Part::Text(words) => Some(What::Words(words)),
        Part::Thinking(words) => Some(What::Thought(words)),
        Part::ToolCall(call) => Some(What::Call(call)),
        Part::Image { mime_type } => Some(What::Picture(mime_type)),
    }
}

/// Returns the texts of a message; a picture is named.
pub fn words(parts: &[Part]) -> String {
    let words = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(Cow::Borrowed(text.as_str())),
        Part::Image { mime_type } => Some(Cow::Owned(picture(mime_type))),
        Part::Thinking(_) | Part::ToolCall(_) => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

/// Names a picture, of which only the type is kept.
pub fn picture(mime_type: &str) -> String {
    format!("[image: {mime_type}]")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pi_subagents_vocabulary::{RunId, SessionId, Task};

    use super::*;

    fn event(happening: Happening) -> RunEvent {
        RunEvent {
            run: RunId::parse("r-1").unwrap(),
            at: Timestamp::UNIX_EPOCH,
            happening,
        }
    }

    fn accepted() -> Happening {
        Happening::Accepted(Arc::new(Task::new(
            RunId::parse("r-1").unwrap(),
            SessionId::parse("s-1").unwrap(),
            "a",
            "look",
            "/",
        )))
    }

    fn child_event(record: ChildRecord) -> Happening {
        Happening::Said {
            line: bytes::Bytes::new(),
            record,
        }
    }

    fn user(words: &str) -> Happening {
        let parts = vec![Part::Text(words.to_owned())];
        child_event(ChildRecord::MessageEnded(Message::User(parts)))
    }

    /// Returns each item in a few words.
    fn items(story: &mut Story, happenings: Vec<Happening>) -> Vec<String> {
        let events: Vec<RunEvent> = happenings.into_iter().map(event).collect();
        let items = events.iter().flat_map(|event| story.apply(event));
        items
            .map(|item| match item.what {
                What::Task(words) => format!("task {words}"),
                What::Prompt(words) => format!("prompt {words}"),
                What::Remark(remark) => remark.line(),
                What::Retry(retry) if retry.is_explained => retry.brief(),
                What::Retry(retry) => retry.words(),
                What::Turn(answer) => format!("turn {:?}", answer.error.as_deref()),
                other => format!("{} {other:?}", item.number),
            })
            .collect()
    }

    #[test]
    fn a_message_to_the_child_is_one_item_although_the_child_repeats_it() {
        let told = |is_task: bool| {
            let mut story = Story::default();
            let task = is_task.then(accepted).into_iter();
            let rest = [
                user("files, and look"),
                Happening::Steered("left".to_owned()),
                Happening::Corrected("report".to_owned()),
                user("report\n"),
                user("left"),
                user("left"),
            ];
            items(&mut story, task.chain(rest).collect())
        };
        let known = [
            "task look",
            "steered: left",
            "corrected: report",
            "prompt left",
        ];
        assert_eq!(told(true), known);
        // From the middle of a record nobody knows what the first message repeats.
        let unknown = ["prompt files, and look", known[1], known[2], known[3]];
        assert_eq!(told(false), unknown);
    }

    #[test]
    fn the_reason_of_a_retry_is_known_from_the_answer_that_failed() {
        let retry = |attempt: u64| {
            child_event(ChildRecord::Retrying {
                attempt,
                max_attempts: 3,
                delay_ms: 60_000 * (attempt / 2),
                error: "500: tired".to_owned(),
            })
        };
        let answer = |error: &str| {
            let answer = AssistantMessage {
                error: Some(error.to_owned()),
                ..AssistantMessage::default()
            };
            child_event(ChildRecord::MessageEnded(Message::Assistant(answer)))
        };
        let happenings = vec![
            answer("500: tired"),
            retry(1),
            // Nobody has named the reason of this one.
            retry(2),
            answer("overloaded"),
            retry(3),
        ];
        assert_eq!(
            items(&mut Story::default(), happenings),
            [
                r#"turn Some("500: tired")"#,
                "retry 1 of 3",
                "retry 2 of 3 in 60 s: 500: tired",
                r#"turn Some("overloaded")"#,
                "retry 3 of 3 in 60 s: 500: tired",
            ]
        );
    }

    #[test]
    fn the_parts_of_an_answer_keep_their_numbers() {
        let parts = vec![
            Part::Text(" ".to_owned()),
            Part::Thinking("hm".to_owned()),
            Part::Text("Done.".to_owned()),
        ];
        let answer = AssistantMessage {
            parts,
            ..AssistantMessage::default()
        };
        let event = event(child_event(ChildRecord::MessageEnded(Message::Assistant(
            answer,
        ))));
        let mut story = Story::default();
        let items = story.apply(&event).into_iter();
        let numbers: Vec<usize> = items.map(|item| item.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
    }
}
