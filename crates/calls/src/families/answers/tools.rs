//! The tool as a caller's model sees it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::tool::{Effect, Offered, Tool, parameters};

pub const ANSWER: &str = "answer_subagent";

/// Arguments of `answer_subagent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct AnswerCall {
    /// The id of the question, such as q7f3a.
    #[serde(deserialize_with = "arguments::text")]
    pub(super) question: String,
    /// The answer: a sentence, or the number or the words of an option.
    #[serde(deserialize_with = "arguments::text")]
    pub(super) answer: String,
}

pub fn tools() -> Vec<Tool> {
    vec![Tool {
        name: ANSWER,
        label: "Answer sub-agent",
        effect: Effect::Runs,
        offered: Offered::WithQuestions,
        uses_definitions: false,
        needs_models: false,
        snippet: "Answer a question of a sub-agent, and wait for what it does with the answer",
        guidelines: &[
            "Use answer_subagent only with what you know or were told; ask the user if you do not know.",
        ],
        description: "Answer a question with which one of your sub-agents waits. It continues, and its result is the answer of this call.",
        parameters: parameters::<AnswerCall>(),
    }]
}
