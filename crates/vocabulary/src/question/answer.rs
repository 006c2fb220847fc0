//! What became of a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::QuestionId;
use crate::Door;

/// A question that nobody needs to answer any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredQuestion {
    /// The question.
    #[serde(rename = "question")]
    pub id: QuestionId,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: AnswerOutcome,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum AnswerOutcome {
    /// Somebody answered it.
    Answered {
        /// The answer, unless it is a secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// Who answered.
        by: Respondent,
    },
    /// Somebody cancelled it.
    Cancelled {
        /// Who cancelled it.
        by: Respondent,
    },
    /// Its time passed without an answer.
    Lapsed,
    /// The child does not wait for it any more.
    Withdrawn,
}

/// Somebody who answers, by the way they came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Respondent {
    /// A person before the live windows of the call.
    Terminal,
    /// Somebody who typed the command `answer`.
    CommandLine,
    /// A person before the screen with all runs.
    Attach,
    /// A person before the page.
    Page,
    /// A person inside pi.
    Pi,
    /// A person whom an MCP client asked.
    McpClient,
    /// The model that started the run.
    Model,
    /// A program with a team.
    Program,
}

impl Respondent {
    /// Returns whether it is a person.
    pub fn is_person(self) -> bool {
        self != Self::Model
    }

    /// Names the respondent.
    pub fn words(self) -> &'static str {
        match self {
            Self::Terminal => "a person at the terminal",
            Self::CommandLine => "the command answer",
            Self::Attach => "a person in attach",
            Self::Page => "a person on the page",
            Self::Pi => "a person in pi",
            Self::McpClient => "a person in an MCP client",
            Self::Model => "the calling model",
            Self::Program => "a program",
        }
    }

    /// Returns the person who came in through this door; a model calls tools through some of them.
    pub fn at(door: Door) -> Self {
        match door {
            Door::CommandLine => Self::CommandLine,
            Door::Pi | Door::Mcp => Self::Model,
            Door::PiCommand => Self::Pi,
            Door::Attach => Self::Attach,
            Door::Page => Self::Page,
        }
    }
}

impl AnswerOutcome {
    /// Returns whether the child was told to decide by itself.
    pub fn makes_it_assume(&self) -> bool {
        matches!(self, Self::Cancelled { .. } | Self::Lapsed)
    }

    /// Says what became of the question.
    pub fn sentence(&self) -> String {
        match self {
            Self::Answered {
                answer: Some(answer),
                by,
            } => format!("{} answered: {answer}", by.words()),
            Self::Answered { answer: None, by } => {
                format!("{} gave a secret, which is not recorded", by.words())
            }
            Self::Cancelled { by } => format!("{} cancelled it", by.words()),
            Self::Lapsed => "nobody answered in time".to_owned(),
            Self::Withdrawn => "it was withdrawn".to_owned(),
        }
    }
}
