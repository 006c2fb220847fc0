//! Decides which messages are kept and which are summarized. Pure.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use crate::message::{AssistantMessage, Message, ToolCall};
use crate::settings::CompactionSettings;
use crate::tokens;

/// The numbers of tokens that stay when a conversation is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The end of the conversation that stays as it is.
    pub(crate) keep: u64,
    /// Tokens that stay free for an answer.
    pub(crate) reserve: u64,
}

impl Limits {
    /// Fits the settings to a small model: pi's numbers alone would never let a conversation of a
    /// model with 16,000 tokens be shortened.
    pub(crate) fn new(settings: CompactionSettings, window: Option<u64>) -> Self {
        let window = window.unwrap_or(u64::MAX);
        Self {
            keep: settings.keep_recent_tokens.min(window / 3),
            reserve: settings.reserve_tokens.min(window / 3),
        }
    }
}

/// The plan for shortening a conversation.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    /// The place of the first message that stays.
    pub(crate) first_kept: usize,
    /// The messages that the summary is about.
    pub(crate) summarized: Vec<Rc<Message>>,
    /// The summary that is there already.
    pub(crate) earlier: Option<String>,
    pub(crate) read_files: Vec<String>,
    pub(crate) modified_files: Vec<String>,
}

impl Plan {
    /// Keeps about `keep` tokens of the end; None if nothing would be gained.
    pub(crate) fn new(messages: &[Rc<Message>], keep: u64) -> Option<Self> {
        let first_kept = cut(messages, keep)?;
        let before = &messages[..first_kept];
        let earlier = before.iter().rev().find_map(|message| match &**message {
            Message::CompactionSummary(compaction) => Some(compaction.summary.clone()),
            _ => None,
        });
        let is_talk = |message: &&Rc<Message>| {
            !matches!(
                ***message,
                Message::System(_) | Message::CompactionSummary(_)
            )
        };
        let summarized: Vec<Rc<Message>> = before.iter().filter(is_talk).cloned().collect();
        if summarized.is_empty() {
            return None;
        }
        let (read_files, modified_files) = files(&summarized);
        Some(Self {
            first_kept,
            summarized,
            earlier,
            read_files,
            modified_files,
        })
    }
}

/// Returns the first message that stays: never a result without its call.
fn cut(messages: &[Rc<Message>], keep: u64) -> Option<usize> {
    let can_begin = |at: &usize| {
        matches!(
            *messages[*at],
            Message::User(_) | Message::Assistant(_) | Message::Other(_)
        )
    };
    let places: Vec<usize> = (0..messages.len()).filter(can_begin).collect();
    let mut kept = 0;
    for at in (0..messages.len()).rev() {
        if !matches!(*messages[at], Message::System(_)) {
            kept += tokens::estimate(&messages[at]);
        }
        if kept >= keep {
            let next = places.iter().find(|place| **place >= at);
            return next.or(places.last()).copied();
        }
    }
    None
}

/// Returns the files that were only read, and the files that were changed.
fn files(messages: &[Rc<Message>]) -> (Vec<String>, Vec<String>) {
    let mut read = BTreeSet::new();
    let mut modified = BTreeSet::new();
    let answers = messages.iter().filter_map(|message| message.as_assistant());
    for ToolCall {
        name, arguments, ..
    } in answers.flat_map(AssistantMessage::tool_calls)
    {
        let path = arguments.get("path").and_then(Value::as_str);
        match (name.as_str(), path) {
            ("read", Some(path)) => read.insert(path.to_owned()),
            ("write" | "edit", Some(path)) => modified.insert(path.to_owned()),
            _ => false,
        };
    }
    read.retain(|path| !modified.contains(path));
    (read.into_iter().collect(), modified.into_iter().collect())
}
