//! Judges how a run ended, by the messages of its child and by how the child's process ended.

use pi_subagents_vocabulary::{AssistantMessage, Ending, StopReason};

/// The consequence of a settled child for its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The run is over.
    Over(Ending),
    /// The child owes a report and must be corrected.
    Unreported,
}

/// The last answer of the model, as far as the run is judged by it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastAnswer {
    stop_reason: Option<StopReason>,
    error: Option<String>,
    /// The number of tools that it called, or `None` before the first answer.
    calls: Option<usize>,
}

impl LastAnswer {
    pub(crate) fn note(&mut self, answer: &AssistantMessage) {
        self.stop_reason.clone_from(&answer.stop_reason);
        self.error.clone_from(&answer.error);
        self.calls = Some(answer.tool_calls().count());
    }

    /// Returns whether there was any answer.
    pub(crate) fn is_there(&self) -> bool {
        self.calls.is_some()
    }

    /// Returns whether it called more than one tool.
    pub(crate) fn called_several(&self) -> bool {
        self.calls.is_some_and(|calls| calls > 1)
    }

    /// Judges a child that has settled. Its exit code is not used, because pi exits with 0 when the
    /// model failed.
    pub(crate) fn judge(&self) -> Ending {
        let failed = |otherwise: &str| Ending::ModelError {
            message: self.error.clone().unwrap_or_else(|| otherwise.to_owned()),
        };
        match &self.stop_reason {
            Some(StopReason::Error) => failed("The model failed and did not say why."),
            Some(StopReason::Aborted) => failed("The model's answer was aborted."),
            Some(StopReason::Length) => Ending::CutOff,
            Some(StopReason::Stop | StopReason::ToolUse | StopReason::Other(_)) | None => {
                Ending::Completed
            }
        }
    }
}

/// The exit of a child's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
    /// The keeper does not know it.
    Unknown,
}

impl Exit {
    pub(crate) fn new(code: Option<i32>, signal: Option<i32>) -> Self {
        match (code, signal) {
            (_, Some(signal)) => Self::Signal(signal),
            (Some(code), None) => Self::Code(code),
            (None, None) => Self::Unknown,
        }
    }

    /// Returns the ending of a run whose child exited before it settled.
    pub(crate) fn judge(self, stderr: String) -> Ending {
        match self {
            Self::Code(code) => Ending::Exited { code, stderr },
            Self::Signal(signal) => Ending::Signalled { signal, stderr },
            Self::Unknown => Ending::Lost {
                reason: "nobody saw how it exited".to_owned(),
            },
        }
    }

    /// Returns whether it was seen how the child exited.
    pub(crate) fn is_known(self) -> bool {
        self != Self::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(stop_reason: Option<StopReason>, error: Option<&str>) -> Ending {
        let mut last = LastAnswer::default();
        last.note(&AssistantMessage {
            stop_reason,
            error: error.map(str::to_owned),
            ..AssistantMessage::default()
        });
        last.judge()
    }

    fn model_error(message: &str) -> Ending {
        Ending::ModelError {
            message: message.to_owned(),
        }
    }

    #[test]
    fn a_settled_child_is_judged_by_its_last_stop_reason() {
        for reason in [StopReason::Stop, StopReason::ToolUse] {
            assert_eq!(settled(Some(reason), None), Ending::Completed);
        }
        assert_eq!(settled(Some(StopReason::Length), None), Ending::CutOff);
        assert_eq!(settled(None, None), Ending::Completed);
        assert_eq!(
            settled(Some(StopReason::Error), Some("429 slow down")),
            model_error("429 slow down")
        );
        assert_eq!(
            settled(Some(StopReason::Aborted), None),
            model_error("The model's answer was aborted.")
        );
    }

    #[test]
    fn a_child_that_did_not_settle_is_judged_by_its_exit() {
        assert_eq!(
            Exit::new(Some(3), None).judge("boom".to_owned()),
            Ending::Exited {
                code: 3,
                stderr: "boom".to_owned()
            }
        );
        assert_eq!(
            Exit::new(None, Some(9)).judge(String::new()),
            Ending::Signalled {
                signal: 9,
                stderr: String::new()
            }
        );
    }
}
