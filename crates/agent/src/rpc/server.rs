//! One loop: takes commands, lets the run go on, answers.

use std::pin::Pin;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::answers;
use super::command::{Command, Request, StreamingBehavior};
use super::response::Response;
use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::event::Event;
use crate::message::Block;
use crate::model_access::ModelAccess;
use crate::models::ThinkingLevel;
use crate::signals::Signals;

/// What wakes the server.
enum Happening {
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
    };
    loop {
        let happening = tokio::select! {
            // A command that is already there is older than what the run does next.
            biased;
            code = signals.next() => Happening::Signal(code),
            line = lines.recv() => line.map_or(Happening::InputEnded, Happening::Line),
            () = running(&mut server.run) => Happening::Settled,
        };
        match happening {
            Happening::Line(line) => server.take(&line).await,
            Happening::Settled => server.settle().await,
            // Dropping the run ends what it does; the sweep on the way out ends the rest.
            Happening::InputEnded => return 0,
            Happening::Signal(code) => return code,
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
}

enum AfterRun {
    Abort,
    NewSession,
}

/// What a command comes to: nothing more to say, data, or why not.
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
            Ok(Request::NewSession) => {
                self.agent.abort();
                self.when_idle(id, name, AfterRun::NewSession).await;
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
        if self.run.is_some() {
            let answer = match behavior {
                Some(StreamingBehavior::Steer) => {
                    self.agent.steer(message).await;
                    Ok(None)
                }
                Some(StreamingBehavior::FollowUp) => {
                    self.agent.follow_up(message).await;
                    Ok(None)
                }
                None => Err("Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.".to_owned()),
            };
            return self.answer(id, "prompt", answer).await;
        }
        if let Err(refusal) = self.access.ready(self.agent).await {
            return self.answer(id, "prompt", Err(refusal)).await;
        }
        self.answer(id, "prompt", Ok(None)).await;
        let mut content = vec![Block::text(message)];
        content.extend(images);
        self.run = Some(Box::pin(self.agent.run(content)));
    }

    async fn perform(&self, request: Request) -> Outcome {
        let agent = self.agent;
        Ok(match request {
            Request::Steer { message } => {
                agent.steer(message).await;
                None
            }
            Request::FollowUp { message } => {
                agent.follow_up(message).await;
                None
            }
            Request::ClearQueue => {
                let queue = agent.queue.take();
                agent.announce_queue().await;
                Some(json!({"steering": queue.steering, "followUp": queue.follow_up}))
            }
            Request::GetState => Some(answers::state(agent)),
            Request::GetMessages => Some(answers::messages(agent)),
            Request::GetSessionStats => Some(answers::session_stats(agent)),
            Request::GetLastAssistantText => Some(answers::last_assistant_text(agent)),
            Request::GetAvailableModels => {
                Some(json!({"models": self.access.available(agent).await}))
            }
            Request::SetModel { provider, model_id } => {
                let model = self.access.switch(agent, &provider, &model_id).await?;
                Some(json!(model))
            }
            Request::SetThinkingLevel { level } => {
                self.set_thinking(&level).await?;
                None
            }
            Request::SetSessionName { name } => {
                self.set_name(name.trim()).await?;
                None
            }
            Request::Prompt { .. } | Request::Abort | Request::AbortRetry | Request::NewSession => {
                None
            }
        })
    }

    async fn set_thinking(&self, level: &str) -> Result<(), String> {
        let known = ThinkingLevel::parse(level);
        let level = known.ok_or_else(|| format!("Invalid thinking level: {level}"))?;
        if level != self.agent.thinking.get() {
            self.agent.set_thinking(level);
            let event = Event::ThinkingLevelChanged {
                level: level.name(),
            };
            self.agent.output.emit(&event).await;
        }
        Ok(())
    }

    async fn set_name(&self, name: &str) -> Result<(), String> {
        if name.is_empty() {
            return Err("Session name cannot be empty".to_owned());
        }
        self.agent.conversation.borrow_mut().set_name(name);
        self.agent
            .output
            .emit(&Event::SessionInfoChanged { name })
            .await;
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
        for (id, command, what) in std::mem::take(&mut self.after_run) {
            match what {
                AfterRun::Abort => self.answer(&id, &command, Ok(None)).await,
                AfterRun::NewSession => {
                    self.begin_session();
                    let data = json!({"cancelled": false});
                    self.answer(&id, &command, Ok(Some(data))).await;
                }
            }
        }
    }

    /// Forgets what was said. A session file belongs to one session, so the new one has none.
    fn begin_session(&self) {
        self.agent.queue.take();
        let mut conversation = Conversation::begin(None, &self.agent.setup.cwd);
        if let Some(model) = self.agent.model() {
            conversation.note_model(&model.provider, &model.id);
        }
        conversation.note_thinking(self.agent.thinking.get().name());
        self.agent.conversation.replace(conversation);
    }

    async fn answer(&self, id: &Value, command: &str, outcome: Outcome) {
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
        self.agent.output.emit(&response).await;
    }
}
