//! The models of a run in the order in which they are asked, and the change from one to the next.
//! Pure: it gets records and times and returns what is to be done.

use std::collections::VecDeque;
use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::ModelName;
use pi_subagents_vocabulary::{
    AssistantMessage, Cooldowns, FailureClass, FallbackModel, Fallbacks, FellBack, ModelFailure,
    StopReason, Timestamp, rest_words,
};
use tokio::time::Instant;

use super::CooldownFile;

/// A wait before the next request from which on the model counts as out of quota.
const LONG_WAIT: Duration = Duration::from_mins(1);

/// The part of a window that stays free for the answer: a quarter of it, but never more than this.
const MOST_RESERVED: u64 = 16_384;

/// The models of a run that may change.
#[derive(Debug)]
pub(crate) struct ModelLine {
    pub(crate) file: CooldownFile,
    /// The model that is asked now, once its whole name is known.
    present: Option<ModelName>,
    left: VecDeque<FallbackModel>,
    /// The failure of the present model since its last answer, and its message.
    failure: Option<(ModelFailure, String)>,
    /// Until when the present model rests, once its failure was written down.
    #[expect(
        clippy::option_option,
        reason = "a failure that is not written down yet, and one after which nobody rests"
    )]
    pub(crate) noted: Option<Option<Timestamp>>,
    /// The models that were asked or passed over, each with the reason.
    past: Vec<String>,
    /// True if the present model has answered in this run.
    has_answered: bool,
    /// The number of tokens of the conversation at the last answer.
    context: u64,
    /// The prompt that no model has accepted yet.
    pub(crate) undelivered: Option<String>,
    pub(crate) step: Option<SwitchStep>,
}

/// A change under way, which waits for an answer of the child.
#[derive(Debug, Clone)]
pub(crate) struct SwitchStep {
    pub(crate) to: FallbackModel,
    pub(crate) change: FellBack,
    pub(crate) waits_for: SwitchAnswer,
    /// The window of the new model, if the child knows it.
    pub(crate) window: Option<u64>,
    /// The child must have answered until then.
    pub(crate) until: Instant,
}

/// The command whose answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwitchAnswer {
    Model,
    Thinking,
    Compaction,
}

/// The model that comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextModel {
    /// The model, or `None` if there is no other.
    pub(crate) model: Option<FallbackModel>,
    /// The models that were passed over, in sentences.
    pub(crate) passed_over: Vec<String>,
}

impl ModelLine {
    pub(crate) fn new(fallbacks: &Fallbacks) -> Self {
        Self {
            file: CooldownFile::at(fallbacks.cooldowns.clone()),
            present: fallbacks.first.clone(),
            left: fallbacks.others.iter().cloned().collect(),
            failure: None,
            noted: None,
            past: Vec::new(),
            has_answered: false,
            context: 0,
            undelivered: None,
            step: None,
        }
    }

    /// Notes an answer of the model, or that it failed.
    pub(crate) fn note_answer(&mut self, answer: &AssistantMessage) {
        if let (Some(provider), Some(id)) = (&answer.provider, &answer.model) {
            self.present = Some(ModelName {
                provider: provider.clone(),
                id: id.clone(),
            });
        }
        match &answer.stop_reason {
            Some(StopReason::Error) => {
                self.note_failure(answer.error.as_deref().unwrap_or_default());
            }
            // An answer that we aborted says nothing about the failure before it.
            Some(StopReason::Aborted) => {}
            Some(
                StopReason::Stop | StopReason::Length | StopReason::ToolUse | StopReason::Other(_),
            )
            | None => {
                self.failure = None;
                self.has_answered = true;
                self.context = answer.usage.total();
            }
        }
    }

    /// Notes a failure by its message.
    pub(crate) fn note_failure(&mut self, message: &str) {
        self.failure = Some((ModelFailure::read(message), message.to_owned()));
        self.noted = None;
    }

    /// Returns the message of the failure of the present model.
    pub(crate) fn failure_message(&self) -> Option<String> {
        self.failure.as_ref().map(|(_, message)| message.clone())
    }

    /// Returns whether the child should not wait and ask the present model again: seconds do not
    /// heal its failure, or it would wait for long, and there is another model.
    pub(crate) fn is_retry_useless(&mut self, delay: Duration, error: &str) -> bool {
        if self.left.is_empty() {
            return false;
        }
        let known = self.failure.take();
        let (mut failure, message) =
            known.unwrap_or_else(|| (ModelFailure::read(error), error.to_owned()));
        let is_long = delay >= LONG_WAIT;
        if is_long {
            failure.wait = failure.wait.or(Some(delay));
        }
        let is_useless = is_long || lasts(failure.class);
        self.failure = Some((failure, message));
        is_useless
    }

    /// Returns the failure of the present model, if another model may take over.
    pub(crate) fn failure(&self) -> Option<&ModelFailure> {
        let failure = self.failure.as_ref().map(|(failure, _)| failure);
        failure.filter(|failure| failure.class.lets_another_try() && !self.left.is_empty())
    }

    /// Returns the name of the present model.
    pub(crate) fn present(&self) -> String {
        let unnamed = || "its first model".to_owned();
        self.present
            .as_ref()
            .map_or_else(unnamed, ToString::to_string)
    }

    /// Takes the next model that does not rest.
    pub(crate) fn take_next(&mut self, cooldowns: &Cooldowns, now: Timestamp) -> NextModel {
        let mut passed_over = Vec::new();
        while let Some(next) = self.left.pop_front() {
            if Some(&next.model) == self.present.as_ref() {
                continue;
            }
            let name = next.model.to_string();
            let Some(cooldown) = cooldowns.of(&name, now) else {
                return NextModel {
                    model: Some(next),
                    passed_over,
                };
            };
            let rest = rest_words(cooldown.until, now).unwrap_or_default();
            passed_over.push(self.pass_over(&name, &format!("{}, {rest}", cooldown.why)));
        }
        NextModel {
            model: None,
            passed_over,
        }
    }

    /// Notes a model that cannot take over. Returns the sentence about it.
    pub(crate) fn pass_over(&mut self, model: &str, why: &str) -> String {
        self.past.push(format!("{model} ({why})"));
        format!("{model} cannot take over: {why}")
    }

    /// Begins the change to a model, and notes the present one as past.
    pub(crate) fn change(
        &mut self,
        to: &FallbackModel,
        until: Option<Timestamp>,
    ) -> Option<FellBack> {
        let (failure, _) = self.failure.as_ref()?;
        Some(FellBack {
            from: self.present(),
            to: to.model.to_string(),
            class: failure.class,
            reason: failure.reason.clone(),
            until,
            loses_cache: self.has_answered,
        })
    }

    /// Returns whether the conversation must be shortened for a model with this window.
    pub(crate) fn is_too_long_for(&self, window: Option<u64>) -> bool {
        let Some(window) = window else {
            return false;
        };
        let reserved = MOST_RESERVED.min(window / 4);
        self.context > window - reserved
    }

    /// Notes that the change is done.
    pub(crate) fn changed(&mut self, step: SwitchStep) {
        let SwitchStep { to, change, .. } = step;
        self.past
            .push(format!("{} ({})", change.from, change.reason));
        self.present = Some(to.model);
        self.failure = None;
        self.has_answered = false;
    }

    /// Returns the message of the last failure, with all other models that failed.
    pub(crate) fn last_words(&self, message: String) -> String {
        if self.past.is_empty() {
            return message;
        }
        let stop = if message.ends_with(['.', '!', '?']) {
            ""
        } else {
            "."
        };
        format!(
            "{}: {message}{stop} Other models failed too: {}.",
            self.present(),
            self.past.join("; ")
        )
    }
}

/// Returns whether a failure is still there after the seconds that a child waits.
fn lasts(class: FailureClass) -> bool {
    match class {
        FailureClass::Quota | FailureClass::Unavailable | FailureClass::KeyRefused => true,
        FailureClass::Busy
        | FailureClass::TooLong
        | FailureClass::Refused
        | FailureClass::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pretty_assertions::assert_eq;

    use super::*;

    fn model(full: &str) -> ModelName {
        let (provider, id) = full.split_once('/').unwrap();
        ModelName {
            provider: provider.to_owned(),
            id: id.to_owned(),
        }
    }

    fn line(first: &str, others: &[&str]) -> ModelLine {
        ModelLine::new(&Fallbacks {
            first: Some(model(first)),
            others: others
                .iter()
                .map(|full| FallbackModel {
                    model: model(full),
                    thinking: None,
                })
                .collect(),
            cooldowns: PathBuf::from("none"),
        })
    }

    fn now() -> Timestamp {
        "2026-11-18T14:00:00Z".parse().unwrap()
    }

    fn next(line: &mut ModelLine, cooldowns: &Cooldowns) -> Option<String> {
        let next = line.take_next(cooldowns, now());
        next.model.map(|next| next.model.to_string())
    }

    #[test]
    fn each_model_is_asked_once_and_those_that_rest_are_passed_over() {
        let mut line = line("a/x", &["a/x", "b/y", "c/z"]);
        let mut cooldowns = Cooldowns::default();
        cooldowns.note("b/y", &ModelFailure::read("503: busy"), now());
        let taken = line.take_next(&cooldowns, now());
        assert_eq!(taken.model.unwrap().model, model("c/z"));
        assert_eq!(
            taken.passed_over,
            ["b/y cannot take over: 503, overloaded, rests 5 min"]
        );
        assert_eq!(next(&mut line, &cooldowns), None);
    }

    #[test]
    fn only_failures_that_another_model_may_not_have_call_for_one() {
        for (message, calls) in [
            ("429: usage limit", true),
            ("503: busy", true),
            ("401: wrong key", true),
            ("400: bad request", false),
            ("400: prompt is too long", false),
            ("what?", false),
        ] {
            let mut line = line("a/x", &["b/y"]);
            line.note_failure(message);
            assert_eq!(line.failure().is_some(), calls, "{message}");
        }
        let mut alone = line("a/x", &[]);
        alone.note_failure("429: usage limit");
        assert_eq!(alone.failure(), None);
    }

    #[test]
    fn a_retry_is_useless_when_the_quota_is_used_up_or_the_wait_is_long() {
        let second = Duration::from_secs(2);
        assert!(line("a/x", &["b/y"]).is_retry_useless(second, "429: usage limit"));
        assert!(!line("a/x", &["b/y"]).is_retry_useless(second, "429: slow down"));
        assert!(line("a/x", &["b/y"]).is_retry_useless(second, "404: no such model"));
        assert!(line("a/x", &["b/y"]).is_retry_useless(second, "401: wrong key"));
        assert!(line("a/x", &["b/y"]).is_retry_useless(LONG_WAIT, "429: slow down"));
        assert!(!line("a/x", &[]).is_retry_useless(LONG_WAIT, "429: usage limit"));
    }

    #[test]
    fn an_answer_makes_the_failure_before_it_forgotten() {
        let mut line = line("a/x", &["b/y"]);
        line.note_failure("503: busy");
        line.note_answer(&AssistantMessage {
            stop_reason: Some(StopReason::ToolUse),
            ..AssistantMessage::default()
        });
        assert_eq!(line.failure(), None);
    }

    #[test]
    fn a_smaller_window_keeps_room_for_the_answer() {
        let mut line = line("a/x", &["b/y"]);
        line.context = 100_000;
        assert!(line.is_too_long_for(Some(100_000)));
        assert!(line.is_too_long_for(Some(116_000)));
        assert!(!line.is_too_long_for(Some(117_000)));
        assert!(!line.is_too_long_for(None));
    }

    #[test]
    fn the_last_failure_names_all_models_before_it() {
        let mut line = line("a/x", &["b/y"]);
        line.note_failure("429: usage limit");
        let to = line.take_next(&Cooldowns::default(), now()).model.unwrap();
        let change = line.change(&to, None).unwrap();
        line.changed(SwitchStep {
            to,
            change,
            waits_for: SwitchAnswer::Model,
            window: None,
            until: Instant::now(),
        });
        assert_eq!(
            line.last_words("503: busy".to_owned()),
            "b/y: 503: busy. Other models failed too: a/x (429, usage limit)."
        );
    }
}
