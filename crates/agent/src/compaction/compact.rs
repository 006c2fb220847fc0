//! Shortens the conversation of an agent, with pi's events and session entries.

use std::rc::Rc;

use futures_util::StreamExt;
use pi_subagents_vocabulary::is_overflow;
use serde_json::{Value, json};

use super::{Limits, Plan, summary};
use crate::abort::Aborted;
use crate::agent::Agent;
use crate::event::Event;
use crate::message::{Block, Message, StopReason};
use crate::model_access::NO_MODEL;
use crate::providers::{Chunk, ProviderError, Request};
use crate::usage::Usage;

/// The reason why a conversation is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Manual,
    Threshold,
    Overflow,
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
        }
    }

    fn blame(self, why: &str) -> String {
        match self {
            Self::Manual => format!("Compaction failed: {why}"),
            Self::Threshold => format!("Auto-compaction failed: {why}"),
            Self::Overflow => format!("Context overflow recovery failed: {why}"),
        }
    }
}

/// The reason to shorten the conversation that follows from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    Nothing,
    /// The conversation has become long.
    Threshold,
    /// The answer fell short for want of room; it is given again.
    Overflow,
    /// The answer is there although the conversation is too long.
    SilentOverflow,
}

/// The reason why a conversation was not shortened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompactionError {
    #[error("Already compacted")]
    JustCompacted,
    #[error("Nothing to compact (session too small)")]
    TooSmall,
    #[error("Compaction cancelled")]
    Aborted,
    #[error("Summarization failed: {0}")]
    NoSummary(ProviderError),
}

impl Agent {
    /// Decides whether the last answer calls for shortening the conversation.
    pub(crate) fn compaction_trigger(
        &self,
        messages: &[Rc<Message>],
        aborted: &Aborted,
    ) -> Trigger {
        if !self.setup.compaction.enabled || aborted.is_raised() {
            return Trigger::Nothing;
        }
        let Some(model) = self.model() else {
            return Trigger::Nothing;
        };
        let last = messages.iter().rev();
        let mut answers = last.filter_map(|message| message.as_assistant());
        let Some(answer) = answers.next() else {
            return Trigger::Nothing;
        };
        let window = model.context_window.unwrap_or(u64::MAX);
        let prompt = answer.usage.input.saturating_add(answer.usage.cache_read);
        let failure = answer.error_message.as_deref().unwrap_or_default();
        let is_short = model
            .max_tokens
            .is_some_and(|limit| answer.usage.output < limit);
        match answer.stop_reason {
            StopReason::Error if is_overflow(failure) => Trigger::Overflow,
            StopReason::Length if is_short && answer.tool_calls().next().is_none() => {
                Trigger::Overflow
            }
            StopReason::Stop if prompt > window => Trigger::SilentOverflow,
            StopReason::Aborted => Trigger::Nothing,
            _ if self.is_nearly_full() => Trigger::Threshold,
            _ => Trigger::Nothing,
        }
    }

    /// Returns whether the next answer may not find the room it needs.
    pub(crate) fn is_nearly_full(&self) -> bool {
        let Some(window) = self.model().and_then(|model| model.context_window) else {
            return false;
        };
        let limits = Limits::new(self.setup.compaction, Some(window));
        self.conversation.borrow().context_tokens() > window.saturating_sub(limits.reserve)
    }

    /// Shortens the conversation if that is possible; true if it is shorter now.
    pub(crate) async fn compact_by_itself(&self, reason: Reason, aborted: &Aborted) -> bool {
        let Some(plan) = self.plan(reason) else {
            return false;
        };
        let outcome = self.carry_out(plan, reason, None, aborted).await;
        outcome.is_ok()
    }

    /// Shortens the conversation because of a command.
    pub(crate) async fn compact_on_command(
        &self,
        focus: Option<&str>,
        aborted: &Aborted,
    ) -> Result<Value, CompactionError> {
        let Some(plan) = self.plan(Reason::Manual) else {
            let why = if self.conversation.borrow().was_just_compacted() {
                CompactionError::JustCompacted
            } else {
                CompactionError::TooSmall
            };
            self.announce_start(Reason::Manual).await;
            self.announce_failure(Reason::Manual, Some(&why.to_string()))
                .await;
            return Err(why);
        };
        self.carry_out(plan, Reason::Manual, focus, aborted).await
    }

    /// Returns whether there is anything to shorten.
    pub(crate) fn can_compact(&self, reason: Reason) -> bool {
        self.plan(reason).is_some()
    }

    /// Decides which messages are kept. After an overflow they are at most half of the
    /// conversation.
    fn plan(&self, reason: Reason) -> Option<Plan> {
        let conversation = self.conversation.borrow();
        if conversation.was_just_compacted() {
            return None;
        }
        let window = self.model().and_then(|model| model.context_window);
        let limits = Limits::new(self.setup.compaction, window);
        let messages = conversation.messages();
        let size: u64 = messages
            .iter()
            .map(|one| crate::tokens::estimate(one))
            .sum();
        let keep = match reason {
            Reason::Overflow => limits.keep.min(size / 2),
            Reason::Manual | Reason::Threshold => limits.keep,
        };
        Plan::new(&messages, keep)
    }

    async fn carry_out(
        &self,
        plan: Plan,
        reason: Reason,
        focus: Option<&str>,
        aborted: &Aborted,
    ) -> Result<Value, CompactionError> {
        self.announce_start(reason).await;
        match self.summarize(&plan, focus, aborted).await {
            Ok((said, usage)) => {
                let summary = summary::complete(&said, &plan);
                let result = self.replace(&plan, &summary, usage);
                self.announce_end(reason, &result).await;
                Ok(result)
            }
            Err(error) => {
                let is_abort = matches!(error, CompactionError::Aborted);
                let why = (!is_abort).then(|| error.to_string());
                self.announce_failure(reason, why.as_deref()).await;
                Err(error)
            }
        }
    }

    fn replace(&self, plan: &Plan, summary: &str, usage: Usage) -> Value {
        let mut conversation = self.conversation.borrow_mut();
        let before = conversation.context_tokens();
        let details = json!({
            "readFiles": plan.read_files, "modifiedFiles": plan.modified_files,
        });
        let first = conversation.compact(plan.first_kept, summary, before, usage, &details);
        let after = conversation.context_tokens();
        json!({
            "summary": summary, "firstKeptEntryId": first, "tokensBefore": before,
            "estimatedTokensAfter": after, "usage": usage, "details": details,
        })
    }

    /// Asks the model, again and again where that may help.
    async fn summarize(
        &self,
        plan: &Plan,
        focus: Option<&str>,
        aborted: &Aborted,
    ) -> Result<(String, Usage), CompactionError> {
        let mut attempt = 0;
        loop {
            let asked = tokio::select! {
                biased;
                () = aborted.raised() => return Err(CompactionError::Aborted),
                asked = self.ask_for_summary(plan, focus) => asked,
            };
            let error = match asked {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let retry = self.setup.retry;
            attempt += 1;
            let may_help = error.is_transient && retry.can_wait(&error);
            if !may_help || !retry.enabled || attempt > retry.max_retries {
                return Err(CompactionError::NoSummary(error));
            }
            tokio::select! {
                () = aborted.raised() => return Err(CompactionError::Aborted),
                () = tokio::time::sleep(retry.delay(attempt, error.retry_after)) => {}
            }
        }
    }

    async fn ask_for_summary(
        &self,
        plan: &Plan,
        focus: Option<&str>,
    ) -> Result<(String, Usage), ProviderError> {
        let chosen = self.chosen.borrow().clone();
        let ready = chosen.and_then(|chosen| Some((chosen.model, chosen.provider?)));
        let Some((model, provider)) = ready else {
            return Err(ProviderError::permanent(NO_MODEL));
        };
        let limits = Limits::new(self.setup.compaction, model.context_window);
        let window = model.context_window.unwrap_or(u64::MAX / 8);
        // Two bytes for a token, because the summary of a summary is not summarized.
        let room = window.saturating_sub(limits.reserve).saturating_mul(2);
        let question = summary::question(plan, focus, usize::try_from(room).unwrap_or(usize::MAX));
        let messages = [std::rc::Rc::new(Message::user(vec![Block::text(question)]))];
        let most = limits.reserve.saturating_mul(4) / 5;
        let mut stream = provider.stream(Request {
            model: &model,
            system: summary::SYSTEM.trim(),
            messages: &messages,
            tools: &[],
            thinking: self.thinking.get(),
            max_tokens: model.max_tokens.map(|limit| limit.min(most)),
        });
        let mut said = String::new();
        while let Some(chunk) = stream.next().await {
            match chunk? {
                Chunk::Text(text) => said.push_str(&text),
                Chunk::Finished(finish) => {
                    let why = finish.refusal.or_else(|| {
                        let cut = finish.reached_limit || said.trim().is_empty();
                        cut.then(|| "the summary is empty or incomplete".to_owned())
                    });
                    let usage = finish.usage.priced(model.cost.as_ref());
                    return match why {
                        Some(why) => Err(ProviderError::permanent(why)),
                        None => Ok((said, usage)),
                    };
                }
                Chunk::Thinking(_)
                | Chunk::ThinkingSignature(_)
                | Chunk::Redacted(_)
                | Chunk::TextSignature(_)
                | Chunk::Windows(_)
                | Chunk::CallStart { .. }
                | Chunk::CallArguments { .. }
                | Chunk::CallCorrected { .. } => {}
            }
        }
        Err(ProviderError::transient(
            "The stream ended before the summary was complete.",
        ))
    }

    async fn announce_start(&self, reason: Reason) {
        self.is_compacting.set(true);
        let reason = reason.name();
        self.output.emit(&Event::CompactionStart { reason }).await;
    }

    async fn announce_end(&self, reason: Reason, result: &Value) {
        self.is_compacting.set(false);
        self.output
            .emit(&Event::CompactionEnd {
                reason: reason.name(),
                result: Some(result),
                aborted: false,
                will_retry: reason == Reason::Overflow,
                error_message: None,
            })
            .await;
    }

    /// Tells that it did not work; without a reason it was called off.
    pub(crate) async fn announce_failure(&self, reason: Reason, why: Option<&str>) {
        self.is_compacting.set(false);
        let error_message = why.map(|why| reason.blame(why));
        self.output
            .emit(&Event::CompactionEnd {
                reason: reason.name(),
                result: None,
                aborted: why.is_none(),
                will_retry: false,
                error_message: error_message.as_deref(),
            })
            .await;
    }
}
