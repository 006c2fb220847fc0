//! The messages of a session: those that the model sees next, and the log that keeps them.

use std::path::Path;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::message::{
    Block, CompactionSummary, Message, RemovedTool, StopReason, SystemMessage, ToolDeclaration,
    ToolResultMessage,
};
use crate::sections::Sections;
use crate::session::{Claim, Recorded, SessionLog, SessionLogError};
use crate::tokens;
use crate::usage::Usage;

/// A conversation and its session file.
#[derive(Debug)]
pub(crate) struct Conversation {
    messages: Vec<LoggedMessage>,
    log: SessionLog,
    pub(crate) name: Option<String>,
    /// Provider and id of the model that the log names last.
    model: Option<(String, String)>,
    /// The thinking level that the log names last.
    thinking: Option<String>,
    /// The first failure to write; the run goes on without the file.
    problem: Option<SessionLogError>,
    /// The first message from which on the model's own counts are about this conversation.
    trusted_from: usize,
}

#[derive(Debug)]
struct LoggedMessage {
    entry: String,
    message: Rc<Message>,
}

impl Conversation {
    /// Begins a conversation, which is kept in a file if there is one.
    pub(crate) fn begin(claim: Option<Claim>, id: String, cwd: &Path) -> Self {
        Self::with_log(SessionLog::create(claim, id, cwd))
    }

    /// Continues the conversation of a session file.
    pub(crate) fn resume(claim: Claim, recorded: Recorded) -> Result<Self, SessionLogError> {
        let log = SessionLog::resume(claim, recorded.id, recorded.leaf, recorded.is_torn)?;
        let kept = recorded.messages.into_iter();
        Ok(Self {
            messages: kept
                .map(|(entry, message)| LoggedMessage { entry, message })
                .collect(),
            name: recorded.name,
            model: recorded.model,
            thinking: recorded.thinking,
            trusted_from: recorded.trusted_from,
            ..Self::with_log(log)
        })
    }

    fn with_log(log: SessionLog) -> Self {
        Self {
            messages: Vec::new(),
            log,
            name: None,
            model: None,
            thinking: None,
            problem: None,
            trusted_from: 0,
        }
    }

    /// Estimates how many tokens the next request takes.
    pub(crate) fn context_tokens(&self) -> u64 {
        tokens::context(&self.messages(), self.trusted_from)
    }

    /// Returns whether there are no messages since the conversation was shortened.
    pub(crate) fn was_just_compacted(&self) -> bool {
        let is_summary =
            |kept: &LoggedMessage| matches!(*kept.message, Message::CompactionSummary(_));
        self.trusted_from > 0
            && self.trusted_from == self.messages.len()
            && self.messages.iter().any(is_summary)
    }

    /// Puts a summary in the place of everything before `first_kept`, and returns the id of
    /// the first entry that stays.
    pub(crate) fn compact(
        &mut self,
        first_kept: usize,
        summary: &str,
        tokens_before: u64,
        usage: Usage,
        details: &Value,
    ) -> String {
        let (sections, tools) = self.declared();
        let timestamp = crate::clock::milliseconds();
        let system = Message::System(SystemMessage {
            sections,
            tools_added: tools,
            timestamp,
            ..SystemMessage::default()
        });
        let mut kept = self.messages.split_off(first_kept.min(self.messages.len()));
        let first = kept.first().map(|kept| kept.entry.clone());
        let first = first.unwrap_or_default();
        let entry = self.note(
            "compaction",
            &json!({
                "summary": summary, "firstKeptEntryId": first, "tokensBefore": tokens_before,
                "details": details, "usage": usage, "fromHook": false, "systemMessage": system,
            }),
        );
        let id = entry.and_then(|entry| entry["id"].as_str().map(str::to_owned));
        let id = id.unwrap_or_default();
        let summary = Message::CompactionSummary(CompactionSummary {
            summary: summary.to_owned(),
            tokens_before,
            timestamp,
        });
        kept.retain(|kept| !matches!(*kept.message, Message::System(_)));
        self.messages = [system, summary]
            .map(|message| LoggedMessage {
                entry: id.clone(),
                message: Rc::new(message),
            })
            .into();
        self.messages.append(&mut kept);
        self.trusted_from = self.messages.len();
        first
    }

    pub(crate) fn session_id(&self) -> &str {
        self.log.id()
    }

    pub(crate) fn session_file(&self) -> Option<&Path> {
        self.log.path()
    }

    /// Returns all messages, including those about tools and prompt.
    pub(crate) fn messages(&self) -> Vec<Rc<Message>> {
        self.messages
            .iter()
            .map(|kept| Rc::clone(&kept.message))
            .collect()
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, message: Message) -> Rc<Message> {
        let message = Rc::new(message);
        let entry = self.log.message(&message);
        let entry = self.noted(entry).unwrap_or_default();
        self.messages.push(LoggedMessage {
            entry,
            message: Rc::clone(&message),
        });
        message
    }

    /// Keeps a message in the file but shows it to the model no more.
    pub(crate) fn omit(&mut self, message: &Rc<Message>) -> Option<Value> {
        let at = self
            .messages
            .iter()
            .rposition(|kept| Rc::ptr_eq(&kept.message, message))?;
        let target = self.messages.remove(at).entry;
        self.trusted_from = self.trusted_from.min(self.messages.len());
        self.note(
            "context_edit",
            &json!({"targetId": target, "replacement": null}),
        )
    }

    /// Keeps which model answers from now on.
    pub(crate) fn note_model(&mut self, provider: &str, id: &str) {
        let model = Some((provider.to_owned(), id.to_owned()));
        if self.model != model {
            self.note(
                "model_change",
                &json!({"provider": provider, "modelId": id}),
            );
            self.model = model;
        }
    }

    /// Keeps how hard the model thinks from now on.
    pub(crate) fn note_thinking(&mut self, level: &str) {
        if self.thinking.as_deref() != Some(level) {
            self.note("thinking_level_change", &json!({"thinkingLevel": level}));
            self.thinking = Some(level.to_owned());
        }
    }

    /// Names the session.
    pub(crate) fn set_name(&mut self, name: &str) {
        self.note("session_info", &json!({"name": name}));
        self.name = Some(name.to_owned());
    }

    /// Adds an entry that is not a message.
    fn note(&mut self, kind: &str, fields: &Value) -> Option<Value> {
        let entry = self.log.append(kind, fields);
        self.noted(entry)
    }

    fn noted<T>(&mut self, result: Result<T, SessionLogError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problem.get_or_insert(problem);
                None
            }
        }
    }

    /// Brings the messages so far to the disk.
    pub(crate) fn sync(&self) {
        self.log.sync();
    }

    /// Brings the messages so far to the disk. Returns an error the first time that this fails.
    pub(crate) fn settle(&mut self) -> Option<SessionLogError> {
        self.log.sync();
        self.problem.take()
    }

    /// Returns the message that brings prompt and tools up to date, if they are not.
    pub(crate) fn declare(
        &self,
        sections: &Sections,
        tools: &[ToolDeclaration],
    ) -> Option<SystemMessage> {
        let (known_sections, known_tools) = self.declared();
        let added = tools.iter().filter(|tool| !known_tools.contains(tool));
        let removed = known_tools.iter().filter(|known| !tools.contains(known));
        let change = SystemMessage {
            content: String::new(),
            sections: sections.difference(&known_sections),
            timestamp: crate::clock::milliseconds(),
            tools_added: added.cloned().collect(),
            tools_removed: removed
                .map(|tool| RemovedTool {
                    name: tool.name.clone(),
                })
                .collect(),
        };
        let is_same = change.sections.is_empty()
            && change.tools_added.is_empty()
            && change.tools_removed.is_empty();
        (!is_same).then_some(change)
    }

    /// Returns the prompt and tools that result from all system messages so far.
    fn declared(&self) -> (Sections, Vec<ToolDeclaration>) {
        let mut sections = Sections::default();
        let mut tools: Vec<ToolDeclaration> = Vec::new();
        for kept in &self.messages {
            if let Message::System(system) = &*kept.message {
                sections.apply(&system.sections);
                let removed = &system.tools_removed;
                tools.retain(|tool| !removed.iter().any(|gone| gone.name == tool.name));
                tools.retain(|tool| !system.tools_added.iter().any(|new| new.name == tool.name));
                tools.extend(system.tools_added.iter().cloned());
            }
        }
        (sections, tools)
    }

    /// Returns the messages for a model: failed answers are left out, unanswered calls are
    /// answered.
    pub(crate) fn for_model(&self) -> Vec<Rc<Message>> {
        let mut shown: Vec<Rc<Message>> = Vec::new();
        let mut open: Vec<Rc<Message>> = Vec::new();
        for kept in &self.messages {
            match &*kept.message {
                Message::System(_) => continue,
                Message::Assistant(assistant)
                    if matches!(
                        assistant.stop_reason,
                        StopReason::Error | StopReason::Aborted
                    ) =>
                {
                    continue;
                }
                Message::ToolResult(result) => open.retain(|message| !answers(message, result)),
                Message::User(_)
                | Message::Assistant(_)
                | Message::CompactionSummary(_)
                | Message::Other(_) => shown.append(&mut open),
            }
            if let Some(assistant) = kept.message.as_assistant() {
                open = assistant
                    .tool_calls()
                    .map(|call| unanswered(&call.id, &call.name))
                    .collect();
            }
            shown.push(Rc::clone(&kept.message));
        }
        shown.append(&mut open);
        shown
    }
}

fn answers(message: &Message, result: &ToolResultMessage) -> bool {
    matches!(message, Message::ToolResult(open) if open.tool_call_id == result.tool_call_id)
}

/// Makes the result of a call that was interrupted; providers insist on a result.
fn unanswered(id: &str, name: &str) -> Rc<Message> {
    Rc::new(Message::ToolResult(ToolResultMessage {
        tool_call_id: id.to_owned(),
        tool_name: name.to_owned(),
        content: vec![Block::text("No result provided")],
        details: None,
        is_error: true,
        timestamp: 0,
    }))
}
