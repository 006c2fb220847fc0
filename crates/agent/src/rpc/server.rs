//! One loop: takes commands, lets the run go on, answers.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use futures_util::FutureExt;
use pi_subagents_vocabulary::ThinkingLevel;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::command::{Command, Request, StreamingBehavior};
use super::response::Response;
use super::session;
use super::state;
use crate::agent::Agent;
use crate::event::Event;
use crate::message::Block;
use crate::model_access::{ModelAccess, ModelError};
use crate::signals::Signals;

/// The reasons for which the server wakes up.
enum Wake {
    Line(Vec<u8>),
    InputEnded,
    Settled,
    Signal(u8),
}

/// Serves until the input ends or a signal comes; returns the exit code.
pub(crate) async fn serve(
    agent: &Agent,
    access: &ModelAccess,
    mut lines: mpsc::Receiver<Vec<u8>>,
    mut signals: Signals,
) -> u8 {
    let mut server = Server {
        agent,
        access,
        run: None,
        after_run: Vec::new(),
        compacted: Rc::default(),
    };
    loop {
        let wake = tokio::select! {
            // A command that is already there is older than the next step of the run.
            biased;
            code = signals.next() => Wake::Signal(code),
            line = lines.recv() => line.map_or(Wake::InputEnded, Wake::Line),
            () = running(&mut server.run) => Wake::Settled,
        };
        match wake {
            Wake::Line(line) => server.take(&line).await,
            Wake::Settled => server.settle().await,
            // Dropping the run ends its work; the sweep on the way out ends the rest.
            Wake::InputEnded => return 0,
            Wake::Signal(code) => return code,
        }
    }
}

type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

async fn running(run: &mut Option<Running<'_>>) {
    match run {
        Some(run) => run.await,
        None => std::future::pending().await,
    }
}

struct Server<'a> {
    agent: &'a Agent,
    access: &'a ModelAccess,
    run: Option<Running<'a>>,
    /// Commands that are answered when the run has come to its end.
    after_run: Vec<(Value, String, AfterRun)>,
    /// The result of a compaction that is over and not yet answered.
    compacted: Rc<RefCell<Option<Outcome>>>,
}

enum AfterRun {
    Abort,
    Compact(Option<String>),
    /// The conversation has been shortened.
    Compacted,
}

/// The answer to a command: the data, if there are any, or the error text.
type Outcome = Result<Option<Value>, String>;

impl Server<'_> {
    async fn take(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let command = match Command::parse(line) {
            Ok(command) => command,
            Err(error) => return self.answer(&Value::Null, "parse", Err(error)).await,
        };
        let Command { id, name, request } = command;
        match request {
            Err(error) => self.answer(&id, &name, Err(error)).await,
            Ok(Request::Prompt {
                message,
                images,
                streaming_behavior,
            }) => self.prompt(&id, message, images, streaming_behavior).await,
            Ok(Request::Abort | Request::AbortRetry) => {
                self.agent.abort();
                self.when_idle(id, name, AfterRun::Abort).await;
            }
            Ok(Request::Compact {
                custom_instructions,
            }) => {
                self.agent.abort();
                self.when_idle(id, name, AfterRun::Compact(custom_instructions))
                    .await;
            }
            // Pi answers nothing either.
            Ok(Request::ExtensionUiResponse { value }) => {
                if let (Some(dialogs), Some(id)) = (&self.agent.setup.dialogs, id.as_str()) {
                    dialogs.answer(id, value);
                }
            }
            Ok(request) => {
                let answer = self.perform(request).await;
                self.answer(&id, &name, answer).await;
            }
        }
    }

    async fn prompt(
        &mut self,
        id: &Value,
        message: String,
        images: Vec<Block>,
        behavior: Option<StreamingBehavior>,
    ) {
        if self.run.is_some() && self.agent.is_compacting.get() && behavior.is_none() {
            let why = "Cannot submit a prompt while compaction is in progress. Wait for compaction to finish and retry.";
            return self.answer(id, "prompt", Err(why.to_owned())).await;
        }
        if self.run.is_some() {
            let answer = match behavior {
                Some(StreamingBehavior::Steer) => {
                    self.agent.steer(message).await;
                    Ok(Some(disposition("queued")))
                }
                Some(StreamingBehavior::FollowUp) => {
                    self.agent.follow_up(message).await;
                    Ok(Some(disposition("queued")))
                }
                None => Err("Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.".to_owned()),
            };
            return self.answer(id, "prompt", answer).await;
        }
        let mut content = vec![Block::text(message)];
        content.extend(images);
        let (agent, access, id) = (self.agent, self.access, id.clone());
        let mut readying = Box::pin(access.ready(agent));
        match readying.as_mut().now_or_never() {
            Some(Err(refusal)) => {
                answer(agent, &id, "prompt", Err(refusal.to_string())).await;
            }
            Some(Ok(())) => {
                answer(agent, &id, "prompt", Ok(Some(disposition("started")))).await;
                // It counts as begun at once, so that an abort right behind it finds it.
                let aborted = agent.begin_run();
                self.run = Some(Box::pin(agent.run_until(content, aborted)));
            }
            // A key may come from a command that takes its time; an abort is noticed meanwhile.
            None => {
                let aborted = agent.begin_run();
                self.run = Some(Box::pin(async move {
                    let ready = tokio::select! {
                        biased;
                        () = aborted.raised() => Err(ModelError::Aborted),
                        ready = readying => ready,
                    };
                    if let Err(refusal) = ready {
                        agent.end_run();
                        return answer(agent, &id, "prompt", Err(refusal.to_string())).await;
                    }
                    answer(agent, &id, "prompt", Ok(Some(disposition("started")))).await;
                    agent.run_until(content, aborted).await;
                }));
            }
        }
    }

    async fn perform(&self, request: Request) -> Outcome {
        let agent = self.agent;
        Ok(match request {
            Request::Steer { message } => {
                agent.steer(message).await;
                Some(disposition("queued"))
            }
            Request::FollowUp { message } => {
                agent.follow_up(message).await;
                Some(disposition("queued"))
            }
            Request::GetState => Some(state::report(agent)),
            Request::GetMessages => Some(session::messages(agent)),
            Request::GetSessionStats => Some(session::stats(agent)),
            // There are neither extensions nor templates, and a skill is no command here.
            Request::GetCommands => Some(json!({"commands": []})),
            Request::GetAvailableThinkingLevels => Some(json!({"levels": levels(agent)})),
            Request::SwitchSession { session_path } => Some(session::switch(agent, &session_path)?),
            Request::GetAvailableModels => Some(json!({"models": self.access.available(agent)})),
            Request::SetModel { provider, model_id } => {
                let switched = self.access.switch(agent, &provider, &model_id).await;
                Some(json!(switched.map_err(|error| error.to_string())?))
            }
            Request::SetThinkingLevel { level } => {
                self.set_thinking(&level).await?;
                None
            }
            Request::BlockTools { reason, after } => {
                agent.tool_stop.announce(after, reason);
                None
            }
            Request::Prompt { .. }
            | Request::ExtensionUiResponse { .. }
            | Request::Abort
            | Request::AbortRetry
            | Request::Compact { .. } => None,
        })
    }

    async fn set_thinking(&self, level: &str) -> Result<(), String> {
        let known = ThinkingLevel::from_word(level);
        let level = known.ok_or_else(|| format!("Invalid thinking level: {level}"))?;
        let level = self.agent.model().map_or(level, |model| model.clamp(level));
        if level != self.agent.thinking.get() {
            self.agent.set_thinking(level);
            let event = Event::ThinkingLevelChanged {
                level: level.as_str(),
            };
            self.agent.output.emit(&event).await;
        }
        Ok(())
    }

    async fn when_idle(&mut self, id: Value, command: String, what: AfterRun) {
        self.after_run.push((id, command, what));
        if self.run.is_none() {
            self.settle().await;
        }
    }

    async fn settle(&mut self) {
        self.run = None;
        let mut waiting = std::mem::take(&mut self.after_run).into_iter();
        while let Some((id, command, what)) = waiting.next() {
            let outcome = match what {
                AfterRun::Abort => Ok(None),
                AfterRun::Compacted => self.compacted.take().unwrap_or(Ok(None)),
                AfterRun::Compact(focus) => {
                    if let Err(refusal) = self.access.ready(self.agent).await {
                        Err(refusal.to_string())
                    } else {
                        // It is a run of its own; the commands behind it wait for its end.
                        self.begin_compaction(focus);
                        self.after_run.push((id, command, AfterRun::Compacted));
                        self.after_run.extend(waiting.by_ref());
                        continue;
                    }
                }
            };
            self.answer(&id, &command, outcome).await;
        }
    }

    fn begin_compaction(&mut self, focus: Option<String>) {
        let (agent, compacted) = (self.agent, Rc::clone(&self.compacted));
        let aborted = agent.begin_run();
        self.run = Some(Box::pin(async move {
            let outcome = agent.compact_on_command(focus.as_deref(), &aborted).await;
            agent.end_run();
            let outcome = outcome.map(Some).map_err(|error| error.to_string());
            compacted.replace(Some(outcome));
        }));
    }

    async fn answer(&self, id: &Value, command: &str, outcome: Outcome) {
        answer(self.agent, id, command, outcome).await;
    }
}

async fn answer(agent: &Agent, id: &Value, command: &str, outcome: Outcome) {
    let success = outcome.is_ok();
    let (data, error) = match outcome {
        Ok(data) => (data, None),
        Err(error) => (None, Some(error)),
    };
    let response = Response {
        id,
        command,
        success,
        data,
        error,
    };
    agent.output.emit(&response).await;
}

/// Returns the levels that the model has; all of them before there is a model.
fn levels(agent: &Agent) -> Vec<&'static str> {
    let model = agent.model();
    let has = |level: &ThinkingLevel| {
        model
            .as_ref()
            .is_none_or(|model| model.clamp(*level) == *level)
    };
    let levels = ThinkingLevel::ALL.into_iter().filter(has);
    levels.map(ThinkingLevel::as_str).collect()
}

/// Returns the data about the fate of a message; pi's client reads it since 1.5.
fn disposition(what: &str) -> Value {
    json!({"disposition": what})
}
