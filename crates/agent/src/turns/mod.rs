//! The run: ask the model, run the tools it calls, until nothing is left to do.

mod answer;
mod calls;
mod model_request;
mod retries;
#[cfg(test)]
mod retries_tests;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::abort::Aborted;
use crate::agent::Agent;
use crate::compaction::{Reason, Trigger};
use crate::event::Event;
use crate::message::{AssistantMessage, Block, Message, StopReason};
use crate::providers::ProviderError;

/// The state of one run.
pub(crate) struct Run {
    pub(crate) aborted: Aborted,
    /// The messages since the last `agent_start`.
    pub(crate) messages: Vec<Rc<Message>>,
    /// Retries since the last successful answer.
    pub(crate) retries: u32,
    /// True once the agent has shortened the conversation and asked the model again because the
    /// context was full. It does so once per run.
    made_room: bool,
}

/// The reason why the turns came to an end.
pub(crate) enum End {
    /// Nothing is left to do, or the run was aborted.
    Done,
    /// The model could not be asked.
    Failed(ProviderError),
}

impl Agent {
    /// Answers a prompt; the future ends when the agent is idle again.
    pub(crate) async fn run(&self, prompt: Vec<Block>) {
        let aborted = self.begin_run();
        self.run_until(prompt, aborted).await;
    }

    /// Answers a prompt in a run that has begun already.
    pub(crate) async fn run_until(&self, prompt: Vec<Block>, aborted: Aborted) {
        let run = Run {
            aborted,
            messages: Vec::new(),
            retries: 0,
            made_room: false,
        };
        self.run_to_the_end(prompt, run).await;
    }

    async fn run_to_the_end(&self, prompt: Vec<Block>, mut run: Run) {
        let mut opening = self.opening(prompt);
        loop {
            let end = self.turns(std::mem::take(&mut opening), &mut run).await;
            let pause = self.pause_before_retry(&end, &run);
            self.end_attempt(&mut run, pause.is_some()).await;
            let goes_on = if let (End::Failed(error), Some(pause)) = (&end, pause) {
                self.wait_for_retry(error, pause, &mut run).await
            } else {
                self.give_up(&end, &mut run).await;
                self.make_room(&mut run).await
            };
            if !goes_on {
                break;
            }
            run.messages.clear();
        }
        if let Some(problem) = self.conversation.borrow_mut().settle() {
            crate::notices::warn(&problem);
        }
        self.end_run();
        self.output.emit(&Event::AgentSettled).await;
    }

    /// Shortens the conversation where the last answer calls for it. Returns whether the run goes
    /// on: because the answer must be given again, or because messages wait.
    async fn make_room(&self, run: &mut Run) -> bool {
        match self.compaction_trigger(&run.messages, &run.aborted) {
            Trigger::Nothing => return false,
            Trigger::Overflow if run.made_room || !self.can_compact(Reason::Overflow) => {
                let why = "the conversation does not fit, not even shortened. Give the task in smaller parts, or use a model with a larger context.";
                self.announce_failure(Reason::Overflow, Some(why)).await;
                return false;
            }
            Trigger::Overflow => {
                run.made_room = true;
                self.take_back_last(run).await;
                return self.compact_by_itself(Reason::Overflow, &run.aborted).await;
            }
            Trigger::Threshold | Trigger::SilentOverflow => {
                self.compact_by_itself(Reason::Threshold, &run.aborted)
                    .await;
            }
        }
        self.queue.borrow().len() > 0 && !run.aborted.is_raised()
    }

    fn opening(&self, prompt: Vec<Block>) -> Vec<Message> {
        let tools = self.setup.declared_tools();
        let conversation = self.conversation.borrow();
        let system = conversation.declare(&self.setup.sections, &tools);
        let mut opening: Vec<Message> = system.map(Message::System).into_iter().collect();
        opening.push(Message::user(prompt));
        opening
    }

    async fn turns(&self, opening: Vec<Message>, run: &mut Run) -> End {
        self.output.emit(&Event::AgentStart).await;
        self.output.emit(&Event::TurnStart).await;
        for message in opening {
            self.add_message(message, run).await;
        }
        let mut pending = self.next_steering().await;
        loop {
            if let Some(text) = pending.take() {
                self.add_message(Message::user(vec![Block::text(text)]), run)
                    .await;
            }
            let (message, failure) = self.ask(run).await;
            let answer = message.as_assistant();
            let failed = answer.is_none_or(|answer| {
                matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted)
            });
            let batch = match answer {
                Some(answer) if !failed => {
                    self.tool_stop.note_answer();
                    self.use_tools(answer, run).await
                }
                _ => Batch::default(),
            };
            self.end_turn(&message, &batch.results).await;
            if failed {
                return failure.map_or(End::Done, End::Failed);
            }
            pending = self.next_steering().await;
            if pending.is_none() && !batch.goes_on {
                pending = self.next_follow_up().await;
                if pending.is_none() {
                    return End::Done;
                }
            }
            if self.setup.compaction.enabled && self.is_nearly_full() {
                self.compact_by_itself(Reason::Threshold, &run.aborted)
                    .await;
            }
            self.output.emit(&Event::TurnStart).await;
        }
    }

    /// Adds a message that is complete from the start.
    async fn add_message(&self, message: Message, run: &mut Run) {
        let message = self.conversation.borrow_mut().add(message);
        self.output
            .emit(&Event::MessageStart { message: &message })
            .await;
        self.output
            .emit(&Event::MessageEnd { message: &message })
            .await;
        run.messages.push(message);
    }

    async fn next_steering(&self) -> Option<String> {
        let next = self.queue.borrow_mut().take_steering();
        if next.is_some() {
            self.announce_queue().await;
        }
        next
    }

    async fn next_follow_up(&self) -> Option<String> {
        let next = self.queue.borrow_mut().take_follow_up();
        if next.is_some() {
            self.announce_queue().await;
        }
        next
    }

    async fn use_tools(&self, answer: &AssistantMessage, run: &mut Run) -> Batch {
        let done = if answer.stop_reason == StopReason::Length {
            calls::refuse_all(answer, &self.output).await
        } else {
            let surroundings = self.tool_surroundings();
            let offered = calls::OfferedTools {
                tools: &self.setup.tools,
                servers: &self.setup.servers,
                stop: &self.tool_stop,
            };
            calls::run_all(answer, offered, &surroundings, &run.aborted, &self.output).await
        };
        let ends_run = !done.is_empty() && done.iter().all(|call| call.output.terminate);
        let mut batch = Batch {
            goes_on: !done.is_empty() && !ends_run,
            results: Vec::new(),
        };
        for call in done {
            self.add_message(call.into_message(), run).await;
            batch.results.extend(run.messages.last().cloned());
        }
        batch
    }

    async fn end_turn(&self, message: &Rc<Message>, results: &[Rc<Message>]) {
        self.conversation.borrow().sync();
        self.output
            .emit(&Event::TurnEnd {
                message,
                tool_results: results.iter().map(Rc::as_ref).collect(),
            })
            .await;
    }

    async fn end_attempt(&self, run: &mut Run, will_retry: bool) {
        self.output
            .emit(&Event::AgentEnd {
                messages: run.messages.iter().map(Rc::as_ref).collect(),
                will_retry,
            })
            .await;
    }
}

/// The results of the calls of one message.
#[derive(Default)]
struct Batch {
    results: Vec<Rc<Message>>,
    /// True if the agent asks the model again with the results.
    goes_on: bool,
}
