//! The commands by which a child goes on with another model.
//!
//! Nothing is asked twice: the child keeps its conversation with all results of its tools, and gets
//! a prompt that lets it go on.

use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::{Command, Response, ResponseData};
use pi_subagents_vocabulary::{Ending, FailureClass, Happening, ModelFailure, Timestamp};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::Running;
use crate::fallback::{ModelLine, NextModel, SwitchAnswer, SwitchStep};

/// The id of the commands of a change.
const SWITCH: &str = "switch";

/// How long a child may take to answer a command.
const TO_ANSWER: Duration = Duration::from_secs(30);

/// How long a child may take to shorten its conversation.
const TO_COMPACT: Duration = Duration::from_mins(5);

/// The prompt with which the new model goes on.
pub(crate) const GO_ON: &str = "Continue the task where it stopped.";

impl Running<'_> {
    /// Begins the change to the next model, if the present one has failed and there is another.
    /// Returns whether the run goes on.
    pub(super) async fn fall_back(&mut self) -> bool {
        let Some(line) = &self.progress.models else {
            return false;
        };
        let Some(failure) = line.failure().cloned() else {
            return false;
        };
        let (file, present, known) = (line.file.clone(), line.present(), line.noted);
        if known.is_none() {
            self.warn_of_key(&present, &failure).await;
        }
        let noted = spawn_blocking(move || {
            let now = Timestamp::now();
            let until = known.unwrap_or_else(|| file.note(&present, &failure, now));
            (until, file.read(now), now)
        });
        // It is our own code, and does not panic.
        let (until, cooldowns, now) = noted.await.unwrap_or_default();
        let Some(line) = &mut self.progress.models else {
            return false;
        };
        line.noted = Some(until);
        let NextModel { model, passed_over } = line.take_next(&cooldowns, now);
        for words in passed_over {
            self.unit.report(Happening::Warned(words)).await;
        }
        let line = self.progress.models.as_mut();
        let Some((line, to)) = line.zip(model) else {
            return false;
        };
        let Some(change) = line.change(&to, until) else {
            return false;
        };
        let command = Command::SetModel {
            id: SWITCH.to_owned(),
            model: to.model.clone(),
        };
        line.step = Some(SwitchStep {
            to,
            change,
            waits_for: SwitchAnswer::Model,
            window: None,
            until: Instant::now() + TO_ANSWER,
        });
        self.send(&command);
        true
    }

    /// Says which key was refused, because nothing heals it but its owner.
    async fn warn_of_key(&mut self, model: &str, failure: &ModelFailure) {
        if failure.class == FailureClass::KeyRefused {
            let provider = model
                .split_once('/')
                .map_or(model, |(provider, _)| provider);
            let words = format!(
                "the provider \"{provider}\" refused its key ({})",
                failure.reason
            );
            self.unit.report(Happening::Warned(words)).await;
        }
    }

    /// Returns whether an answer of the child belongs to a change of its model.
    pub(super) fn is_switching(&self, response: &Response) -> bool {
        let is_ours = response.id.as_deref() == Some(SWITCH);
        let line = self.progress.models.as_ref();
        is_ours && line.is_some_and(|line| line.step.is_some())
    }

    /// Takes the next step of a change after an answer of the child.
    pub(super) async fn switch(&mut self, response: Response) {
        let line = self.progress.models.as_mut();
        let Some(mut step) = line.and_then(|line| line.step.take()) else {
            return;
        };
        if let ResponseData::Window(window) = response.data {
            step.window = window;
        }
        match (step.waits_for, response.error) {
            (SwitchAnswer::Model | SwitchAnswer::Compaction, Some(why)) => {
                self.pass_over(&step, &why).await;
            }
            (SwitchAnswer::Model, None) => self.set_thinking(step).await,
            (SwitchAnswer::Thinking, _) => self.make_room(step).await,
            (SwitchAnswer::Compaction, None) => self.go_on(step).await,
        }
    }

    async fn set_thinking(&mut self, step: SwitchStep) {
        let Some(level) = step.to.thinking else {
            return self.make_room(step).await;
        };
        let id = SWITCH.to_owned();
        self.wait_for(step, SwitchAnswer::Thinking, TO_ANSWER);
        self.send(&Command::SetThinking { id, level });
    }

    /// Shortens the conversation, if it does not fit into the window of the new model.
    async fn make_room(&mut self, step: SwitchStep) {
        let line = self.progress.models.as_ref();
        if !line.is_some_and(|line| line.is_too_long_for(step.window)) {
            return self.go_on(step).await;
        }
        let id = SWITCH.to_owned();
        self.wait_for(step, SwitchAnswer::Compaction, TO_COMPACT);
        self.send(&Command::Compact { id });
    }

    fn wait_for(&mut self, step: SwitchStep, waits_for: SwitchAnswer, patience: Duration) {
        if let Some(line) = &mut self.progress.models {
            line.step = Some(SwitchStep {
                waits_for,
                until: Instant::now() + patience,
                ..step
            });
        }
    }

    /// Lets the new model go on.
    async fn go_on(&mut self, step: SwitchStep) {
        let happened = Happening::FellBack(step.change.clone());
        self.unit.report(happened).await;
        let Some(line) = &mut self.progress.models else {
            return;
        };
        line.changed(step);
        let unheard = line.undelivered.clone();
        let prompt = unheard.unwrap_or_else(|| GO_ON.to_owned());
        self.send_prompt(prompt);
    }

    /// Goes over to the model after one that cannot take over.
    async fn pass_over(&mut self, step: &SwitchStep, why: &str) {
        let model = step.to.model.to_string();
        let why = match step.waits_for {
            SwitchAnswer::Compaction => {
                format!("the conversation is too long for it and could not be shortened: {why}")
            }
            SwitchAnswer::Model | SwitchAnswer::Thinking => why.to_owned(),
        };
        if let Some(line) = &mut self.progress.models {
            let words = line.pass_over(&model, &why);
            self.unit.report(Happening::Warned(words)).await;
        }
        if !self.fall_back().await {
            let line = self.progress.models.as_ref();
            let message = line.and_then(ModelLine::failure_message);
            let message = self.progress.with_models(message.unwrap_or_default());
            self.conclude(Ending::ModelError { message }).await;
        }
    }

    /// Returns when a child that does not answer counts as refusing.
    pub(super) fn switch_alarm(&self) -> Option<Instant> {
        let line = self.progress.models.as_ref()?;
        line.step.as_ref().map(|step| step.until)
    }

    /// Goes over to the next model if the child has not answered in time.
    pub(super) async fn switch_is_late(&mut self, now: Instant) {
        let line = self.progress.models.as_mut();
        let Some(line) =
            line.filter(|line| line.step.as_ref().is_some_and(|step| now >= step.until))
        else {
            return;
        };
        if let Some(step) = line.step.take() {
            self.pass_over(&step, "the child did not answer").await;
        }
    }

    /// Ends a run whose prompt was refused, unless another model takes it.
    pub(super) async fn prompt_refused(&mut self, message: String) {
        if let Some(line) = &mut self.progress.models {
            line.note_failure(&message);
        }
        if !self.fall_back().await {
            let message = self.progress.with_models(message);
            self.conclude(Ending::ModelError { message }).await;
        }
    }
}
