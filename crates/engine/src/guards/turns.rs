//! Lets a run come to its end whose model has given as many answers as it may.

use pi_subagents_vocabulary::{AssistantMessage, Decision, StopReason};

/// Counts the answers of a run, over all its children.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turns {
    limit: Option<u32>,
    answers: u32,
}

impl Turns {
    pub(crate) fn new(limit: Option<u32>) -> Self {
        Self { limit, answers: 0 }
    }

    /// Returns how many answers are left, if they are limited.
    pub(crate) fn left(&self) -> Option<u32> {
        Some(self.limit?.saturating_sub(self.answers))
    }

    /// Counts an answer. Returns the decision if it is the last one and calls a tool: an answer
    /// without calls ends its run anyway. A request that failed is not an answer.
    pub(crate) fn observe(&mut self, answer: &AssistantMessage) -> Option<Decision> {
        if matches!(
            answer.stop_reason,
            Some(StopReason::Error | StopReason::Aborted)
        ) {
            return None;
        }
        self.answers = self.answers.saturating_add(1);
        let turns = self.limit?;
        answer.tool_calls().next()?;
        (self.answers >= turns).then_some(Decision::OutOfTurns { turns })
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::{Part, ToolCall};

    use super::*;

    fn answer(stop_reason: StopReason) -> AssistantMessage {
        let call = Part::ToolCall(ToolCall {
            id: String::new(),
            name: "ls".to_owned(),
            arguments: serde_json::Value::Null,
        });
        let calls = stop_reason == StopReason::ToolUse;
        AssistantMessage {
            parts: calls.then_some(call).into_iter().collect(),
            stop_reason: Some(stop_reason),
            ..AssistantMessage::default()
        }
    }

    #[test]
    fn the_answer_that_reaches_the_limit_and_goes_on_is_the_last() {
        let mut turns = Turns::new(Some(2));
        assert_eq!(turns.observe(&answer(StopReason::ToolUse)), None);
        assert_eq!(turns.observe(&answer(StopReason::Error)), None);
        let last = turns.observe(&answer(StopReason::ToolUse));
        assert_eq!(last, Some(Decision::OutOfTurns { turns: 2 }));
        assert_eq!(turns.left(), Some(0));
        let mut turns = Turns::new(Some(1));
        assert_eq!(turns.observe(&answer(StopReason::Stop)), None);
        let mut free = Turns::new(None);
        assert!((0..99).all(|_| free.observe(&answer(StopReason::ToolUse)).is_none()));
    }
}
