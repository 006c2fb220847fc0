//! One answer of the model, from the question to the last chunk or the failure.

use std::rc::Rc;

use futures_util::StreamExt;

use super::Run;
use super::answer::Answer;
use crate::abort::Aborted;
use crate::agent::Agent;
use crate::event::Event;
use crate::message::{AssistantMessage, Message, StopReason};
use crate::model_access::NO_MODEL;
use crate::models::Model;
use crate::providers::{ChunkStream, ProviderError, Request};

/// Tokens that an estimate may have overlooked.
const UNCOUNTED_TOKENS: u64 = 4096;

impl Agent {
    /// Lets the model answer; the message is there also when it failed.
    pub(crate) async fn ask(&self, run: &mut Run) -> (Rc<Message>, Option<ProviderError>) {
        let (message, failure) = self.answer(&run.aborted).await;
        let message = self.conversation.borrow_mut().add(message);
        self.last_answer.replace(Some(Rc::clone(&message)));
        self.output
            .emit(&Event::MessageEnd { message: &message })
            .await;
        run.messages.push(Rc::clone(&message));
        let is_error = message
            .as_assistant()
            .is_some_and(|answer| answer.stop_reason == StopReason::Error);
        if !is_error && run.retries > 0 {
            let attempt = std::mem::take(&mut run.retries);
            self.end_retry(attempt, Ok(())).await;
        }
        (message, failure)
    }

    async fn answer(&self, aborted: &Aborted) -> (Message, Option<ProviderError>) {
        let chosen = self.chosen.borrow().clone();
        let ready = chosen.and_then(|chosen| Some((chosen.model, chosen.provider?)));
        let Some((model, provider)) = ready else {
            // A prompt without a model is refused before the run begins.
            let error = ProviderError::permanent(NO_MODEL);
            return (failed_without_model(&error), Some(error));
        };
        let messages = self.conversation.borrow().for_model();
        let system = self.setup.sections.text();
        let tools = self.setup.declared_tools();
        let stream = provider.stream(Request {
            model: &model,
            system: &system,
            messages: &messages,
            tools: &tools,
            thinking: self.thinking.get(),
            max_tokens: self.room_for_answer(&model),
        });
        let mut answer = Answer::new(&model, &self.output);
        let failure = receive(&mut answer, stream, aborted).await;
        (answer.into_message(), failure)
    }

    /// Returns how many tokens the answer may hold; servers refuse more than the context has left.
    fn room_for_answer(&self, model: &Model) -> Option<u64> {
        let limit = model.max_tokens?;
        let Some(window) = model.context_window else {
            return Some(limit);
        };
        let used = self.conversation.borrow().context_tokens() + UNCOUNTED_TOKENS;
        Some(limit.min(window.saturating_sub(used).max(1)))
    }
}

/// Takes chunks until the answer is complete, was aborted or failed. Returns the error of a
/// failure.
async fn receive(
    answer: &mut Answer<'_>,
    mut stream: ChunkStream<'_>,
    aborted: &Aborted,
) -> Option<ProviderError> {
    loop {
        let next = tokio::select! {
            biased;
            () = aborted.raised() => {
                answer.fail(StopReason::Aborted, "Request aborted".to_owned()).await;
                return None;
            }
            next = stream.next() => next,
        };
        let error = match next {
            Some(Ok(chunk)) => {
                if answer.take(chunk).await {
                    return None;
                }
                continue;
            }
            Some(Err(error)) => error,
            None => ProviderError::cut_off(),
        };
        answer.fail(StopReason::Error, error.message.clone()).await;
        return Some(error);
    }
}

fn failed_without_model(error: &ProviderError) -> Message {
    Message::Assistant(AssistantMessage {
        content: Vec::new(),
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        usage: crate::usage::Usage::default(),
        stop_reason: StopReason::Error,
        timestamp: crate::clock::milliseconds(),
        response_id: None,
        raw_stop_reason: None,
        error_message: Some(error.message.clone()),
    })
}
