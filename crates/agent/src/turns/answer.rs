//! Builds one assistant message from the pieces that stream in, and announces each piece.

use std::collections::BTreeMap;

use pi_subagents_vocabulary::WINDOWS_TITLE;
use serde_json::{Value, json};

use crate::event::{Event, FinishedCall, Piece};
use crate::message::{AssistantMessage, Block, Message, StopReason, ToolCall};
use crate::models::Model;
use crate::output::Output;
use crate::providers::{Chunk, Finish};
use crate::usage::{Price, Usage};

/// An assistant message in the making.
pub(crate) struct Answer<'a> {
    output: &'a Output,
    message: AssistantMessage,
    price: Option<Price>,
    /// The block that still grows, unless it is a tool call.
    open: Option<usize>,
    /// Tool calls that still grow: their place and their arguments so far.
    calls: Vec<(usize, String)>,
    is_announced: bool,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(model: &Model, output: &'a Output) -> Self {
        Self {
            output,
            message: AssistantMessage {
                content: Vec::new(),
                api: model.api.clone(),
                provider: model.provider.clone(),
                model: model.id.clone(),
                usage: Usage::default().priced(model.cost.as_ref()),
                stop_reason: StopReason::Pending,
                timestamp: crate::clock::milliseconds(),
                response_id: None,
                raw_stop_reason: None,
                error_message: None,
            },
            price: model.cost.clone(),
            open: None,
            calls: Vec::new(),
            is_announced: false,
        }
    }

    /// Takes a piece. Returns true if it was the last one.
    pub(crate) async fn take(&mut self, chunk: Chunk) -> bool {
        self.announce().await;
        match chunk {
            Chunk::Text(delta) => self.add_text(&delta).await,
            Chunk::TextSignature(signature) => self.sign_text(signature),
            Chunk::Thinking(delta) => self.add_thinking(&delta).await,
            Chunk::ThinkingSignature(piece) => self.sign_thinking(&piece).await,
            Chunk::Redacted(hidden) => self.add_redacted(hidden).await,
            Chunk::CallStart {
                id,
                name,
                signature,
            } => self.start_call(id, name, signature).await,
            Chunk::CallArguments { id, delta } => self.add_arguments(&id, &delta).await,
            Chunk::CallCorrected { id, arguments } => self.correct(&id, &arguments),
            Chunk::Windows(headers) => self.tell_windows(&headers).await,
            Chunk::Finished(finish) => {
                self.finish(finish).await;
                return true;
            }
        }
        false
    }

    /// Tells the owner how much of the provider's windows is used, as a child of pi does.
    async fn tell_windows(&self, headers: &BTreeMap<String, String>) {
        let record = json!({
            "type": "extension_ui_request",
            "id": "windows",
            "method": "setTitle",
            "title": format!("{WINDOWS_TITLE}{}", json!(headers)),
        });
        self.output.emit(&record).await;
    }

    /// Ends the message as failed, with the text so far.
    pub(crate) async fn fail(&mut self, reason: StopReason, message: String) {
        self.close().await;
        self.message.stop_reason = reason;
        self.message.error_message = Some(message);
        self.announce().await;
    }

    pub(crate) fn into_message(self) -> Message {
        Message::Assistant(self.message)
    }

    async fn announce(&mut self) {
        if !self.is_announced {
            self.is_announced = true;
            let message = &Message::Assistant(self.message.clone());
            self.output.emit(&Event::MessageStart { message }).await;
        }
    }

    async fn add_text(&mut self, delta: &str) {
        let is_open = |block: &Block| matches!(block, Block::Text { .. });
        let open = self.open.filter(|at| is_open(&self.message.content[*at]));
        let content_index = if let Some(index) = open {
            index
        } else {
            let content_index = self.push(Block::text("")).await;
            self.update(Piece::TextStart { content_index }).await;
            content_index
        };
        if let Block::Text { text, .. } = &mut self.message.content[content_index] {
            text.push_str(delta);
        }
        self.update(Piece::TextDelta {
            content_index,
            delta,
        })
        .await;
    }

    async fn add_thinking(&mut self, delta: &str) {
        let content_index = match self.open_thought() {
            // A signed part is complete.
            Some((index, None)) => index,
            _ => self.begin_thought(false).await,
        };
        if let Block::Thinking { thinking, .. } = &mut self.message.content[content_index] {
            thinking.push_str(delta);
        }
        self.update(Piece::ThinkingDelta {
            content_index,
            delta,
        })
        .await;
    }

    /// Returns the thought that still grows, with its signature so far.
    fn open_thought(&self) -> Option<(usize, Option<&str>)> {
        let index = self.open?;
        match &self.message.content[index] {
            Block::Thinking {
                thinking_signature, ..
            } => Some((index, thinking_signature.as_deref())),
            Block::Text { .. } | Block::ToolCall(_) | Block::Image { .. } | Block::Other(_) => None,
        }
    }

    async fn begin_thought(&mut self, redacted: bool) -> usize {
        let block = Block::Thinking {
            thinking: String::new(),
            thinking_signature: None,
            redacted,
        };
        let content_index = self.push(block).await;
        self.update(Piece::ThinkingStart { content_index }).await;
        content_index
    }

    /// Keeps a signature. Without a thought it becomes an empty thought, because the provider wants
    /// it back.
    async fn sign_thinking(&mut self, piece: &str) {
        let index = match self.open_thought() {
            Some((index, _)) => index,
            None => self.begin_thought(false).await,
        };
        if let Block::Thinking {
            thinking_signature, ..
        } = &mut self.message.content[index]
        {
            thinking_signature.get_or_insert_default().push_str(piece);
        }
    }

    async fn add_redacted(&mut self, hidden: String) {
        let index = self.begin_thought(true).await;
        if let Block::Thinking {
            thinking_signature, ..
        } = &mut self.message.content[index]
        {
            *thinking_signature = Some(hidden);
        }
    }

    fn sign_text(&mut self, signature: String) {
        let texts = self.message.content.iter_mut().rev();
        let mut found = texts.filter_map(|block| match block {
            Block::Text { text_signature, .. } => Some(text_signature),
            Block::Thinking { .. } | Block::ToolCall(_) | Block::Image { .. } | Block::Other(_) => {
                None
            }
        });
        if let Some(place) = found.next() {
            *place = Some(signature);
        }
    }

    fn correct(&mut self, id: &str, corrected: &Value) {
        let content = &self.message.content;
        let is_meant = |at: usize| matches!(&content[at], Block::ToolCall(call) if call.id == id);
        if let Some((_, arguments)) = self.calls.iter_mut().rfind(|(at, _)| is_meant(*at)) {
            *arguments = corrected.to_string();
        }
    }

    async fn start_call(&mut self, id: String, name: String, signature: Option<String>) {
        let block = Block::ToolCall(ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: json!({}),
            thought_signature: signature,
        });
        let content_index = self.push(block).await;
        self.open = None;
        self.calls.push((content_index, String::new()));
        self.update(Piece::ToolCallStart {
            content_index,
            id: &id,
            tool_name: &name,
        })
        .await;
    }

    async fn add_arguments(&mut self, id: &str, delta: &str) {
        let content = &self.message.content;
        let is_meant = |at: usize| matches!(&content[at], Block::ToolCall(call) if call.id == id);
        let Some((index, arguments)) = self.calls.iter_mut().rfind(|(at, _)| is_meant(*at)) else {
            return;
        };
        arguments.push_str(delta);
        let content_index = *index;
        self.update(Piece::ToolCallDelta {
            content_index,
            delta,
        })
        .await;
    }

    /// Closes the open text and adds a block.
    async fn push(&mut self, block: Block) -> usize {
        self.close_text().await;
        self.message.content.push(block);
        let index = self.message.content.len() - 1;
        self.open = Some(index);
        index
    }

    async fn finish(&mut self, finish: Finish) {
        self.message.usage = finish.usage.priced(self.price.as_ref());
        self.close().await;
        self.message.response_id = finish.response_id;
        self.message.raw_stop_reason = finish.raw_stop_reason;
        // Some servers call it a plain stop although they ask for tools, so the calls decide.
        self.message.stop_reason = if finish.refusal.is_some() {
            StopReason::Error
        } else if finish.reached_limit {
            StopReason::Length
        } else if self.message.tool_calls().next().is_some() {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        };
        self.message.error_message = finish.refusal;
    }

    async fn close(&mut self) {
        self.close_text().await;
        for (content_index, arguments) in std::mem::take(&mut self.calls) {
            if let Block::ToolCall(call) = &mut self.message.content[content_index] {
                call.arguments = parsed(&arguments);
            }
            if let Block::ToolCall(call) = &self.message.content[content_index] {
                let tool_call = FinishedCall { call };
                self.update(Piece::ToolCallEnd {
                    content_index,
                    tool_call,
                })
                .await;
            }
        }
    }

    async fn close_text(&mut self) {
        let Some(content_index) = self.open.take() else {
            return;
        };
        match &self.message.content[content_index] {
            Block::Text { text, .. } => {
                let content = text;
                self.update(Piece::TextEnd {
                    content_index,
                    content,
                })
                .await;
            }
            Block::Thinking { thinking, .. } => {
                let content = thinking;
                self.update(Piece::ThinkingEnd {
                    content_index,
                    content,
                })
                .await;
            }
            Block::ToolCall(_) | Block::Image { .. } | Block::Other(_) => {}
        }
    }

    async fn update(&self, delta: Piece<'_>) {
        self.output
            .emit(&Event::MessageUpdate {
                usage: &self.message.usage,
                assistant_message_event: delta,
            })
            .await;
    }
}

/// Arguments that are not JSON stay text, which the check of the call then refuses.
fn parsed(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}
