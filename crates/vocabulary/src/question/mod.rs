//! Questions of a run: what it asks, who may answer, and what became of it. Pure.
//!
//! The tool [`ASK_TOOL`] of a child, a dialog of an extension and a limit of a budget become one
//! [`Question`], whichever asked. A [`Reply`] is what somebody gave for an answer; the question says
//! what that means ([`Question::take`]). [`QuestionLog`] is the fold over both.

mod answer;
mod given_reply;
mod log;
mod terms;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use answer::{AnswerOutcome, AnsweredQuestion, Respondent};
pub use given_reply::{Reply, ReplyProblem, TakenReply};
pub use log::{AskedQuestion, MOST_QUESTIONS, QuestionLog};
pub use terms::{Answerers, PermissionChoice, QuestionChoice, QuestionTerms};

use crate::{moment, text};

/// The tool by which a child asks its caller.
pub const ASK_TOOL: &str = "ask_parent";

/// The answer to a question that nobody answered.
pub const NOBODY_ANSWERED: &str =
    "Nobody answered. Decide yourself, and say in your report what you assumed.";

/// The largest number of questions that the tool may ask in one run.
pub const MOST_ASKED: u32 = 10;

/// The largest number of bytes of a question's text.
const LONGEST_TEXT: usize = 4 << 10;

/// The largest number of options of a question, and of the bytes of one of them.
const MOST_OPTIONS: usize = 50;
const LONGEST_OPTION: usize = 500;

/// The words in the title of a dialog whose answer is a secret.
const SECRET_WORDS: [&str; 4] = ["password", "token", "key", "secret"];

/// The id of one question: `q` and six hex digits, so that no two open questions of a user have the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct QuestionId(Arc<str>);

impl QuestionId {
    /// Makes an id.
    pub fn new(random: u32) -> Self {
        Self(format!("q{:06x}", random & 0x00ff_ffff).into())
    }

    /// Reads an id; `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        let digits = word.strip_prefix('q')?;
        // Records of earlier versions have four digits.
        let fits =
            matches!(digits.len(), 4 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then(|| Self(word.to_ascii_lowercase().into()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for QuestionId {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Self::parse(&word).ok_or_else(|| format!("\"{word}\" is not an id of a question"))
    }
}

impl From<QuestionId> for String {
    fn from(id: QuestionId) -> Self {
        id.as_str().to_owned()
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The origin of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionKind {
    /// The model of the run asks with its tool `ask_parent`.
    Ask,
    /// An extension of the child shows a dialog, such as a permission prompt.
    Dialog,
    /// A budget is used up.
    Budget,
}

/// The form of the answer that a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnswerForm {
    /// One of its options.
    Choice,
    /// Yes or no.
    YesNo,
    /// Words, or one of its options if it has any.
    Words,
}

/// Those who may answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Answerer {
    /// The model that started the run, or a person.
    Parent,
    /// A person only.
    Person,
}

/// Something that a run asks and waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The id of the question, by which it is answered.
    pub id: QuestionId,
    /// The origin of the question.
    pub kind: QuestionKind,
    /// The form of the answer.
    pub form: AnswerForm,
    /// The question itself.
    pub text: String,
    /// What somebody who answers should know beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The answers to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Those who may answer it.
    pub answerer: Answerer,
    /// True if the answer is a secret, which is not recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The time at which it was asked.
    #[serde(with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub asked_at: Timestamp,
    /// The time at which it lapses without an answer, if it does.
    #[serde(
        default,
        with = "moment::optional",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub lapses_at: Option<Timestamp>,
}

/// The words of a question before they are cleaned and cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionWords {
    /// The question itself.
    pub text: String,
    /// What somebody who answers should know beside it.
    pub context: Option<String>,
    /// The answers to choose from.
    pub options: Vec<String>,
}

impl QuestionWords {
    /// Cleans the words of everything that a terminal would obey, and cuts what is too long. The
    /// text and the context share the room.
    #[must_use]
    pub fn cleaned(self) -> Self {
        let clean = |words: &str| text::clean(words).trim().to_owned();
        let text = text::cut_bytes(clean(&self.text), LONGEST_TEXT);
        let room = LONGEST_TEXT.saturating_sub(text.len());
        let context = self.context.map(|context| clean(&context));
        let context = context.filter(|context| !context.is_empty() && room > 0);
        let options = self.options.iter().take(MOST_OPTIONS);
        let option =
            |option: &String| text::cut_bytes(text::one_line(&clean(option)), LONGEST_OPTION);
        Self {
            context: context.map(|context| text::cut_bytes(context, room)),
            options: options.map(option).collect(),
            text,
        }
    }

    /// Returns whether the answer is a secret, by the words of the question.
    pub fn ask_for_a_secret(&self) -> bool {
        let text = self.text.to_lowercase();
        SECRET_WORDS.iter().any(|word| text.contains(word))
    }
}

impl Question {
    /// Returns the question on one line, with its options in brackets.
    pub fn line(&self) -> String {
        let text = text::one_line(&self.text);
        if self.options.is_empty() {
            return text;
        }
        let options = self.options.iter().enumerate();
        let options: Vec<String> = options
            .map(|(number, option)| format!("{} {option}", number + 1))
            .collect();
        format!("{text} [{}]", options.join(", "))
    }

    /// Says in a few words how it is answered.
    pub fn how(&self) -> &'static str {
        match (self.form, self.options.is_empty()) {
            (AnswerForm::YesNo, _) => "yes or no",
            (AnswerForm::Choice, _) => "the number of an option",
            (AnswerForm::Words, true) => "a sentence",
            (AnswerForm::Words, false) => "the number of an option, or a sentence",
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Makes a question with these options.
    pub(crate) fn question(form: AnswerForm, options: &[&str]) -> Question {
        Question {
            id: QuestionId::new(0x7f_3a91),
            kind: QuestionKind::Ask,
            form,
            text: "Which schema?".to_owned(),
            context: None,
            options: options.iter().map(|&option| option.to_owned()).collect(),
            answerer: Answerer::Parent,
            secret: false,
            asked_at: Timestamp::UNIX_EPOCH,
            lapses_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::testing::question;
    use super::*;

    #[test]
    fn an_id_is_q_and_four_hex_digits() {
        assert_eq!(QuestionId::new(0x1f).as_str(), "q00001f");
        assert_eq!(
            QuestionId::parse("q7F3A91"),
            Some(QuestionId::new(0x7f_3a91))
        );
        assert_eq!(QuestionId::parse("q7f3a").unwrap().as_str(), "q7f3a");
        for other in [
            "",
            "q",
            "7f3a",
            "q7f3",
            "q7f3ag",
            "q7f3g",
            "p7f3a",
            "q7f3a9122",
        ] {
            assert_eq!(QuestionId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn words_are_cleaned_and_cut() {
        let words = QuestionWords {
            text: format!("\u{1b}[31mWhich?\u{7} {}", "x".repeat(5000)),
            context: Some("more".to_owned()),
            options: (0..60).map(|number| format!("a\nb {number}")).collect(),
        }
        .cleaned();
        assert!(words.text.starts_with("Which? xxx"));
        assert_eq!(words.text.len(), LONGEST_TEXT + text::CUT_MARK.len());
        assert_eq!(words.context, None);
        assert_eq!(
            (words.options.len(), words.options[0].as_str()),
            (50, "a b 0")
        );
    }

    #[test]
    fn a_secret_is_known_by_the_words_that_ask_for_it() {
        let asks = |text: &str| {
            QuestionWords {
                text: text.to_owned(),
                ..QuestionWords::default()
            }
            .ask_for_a_secret()
        };
        assert!(asks("Your API Key, please"));
        assert!(asks("PASSWORD for db"));
        assert!(!asks("Which schema?"));
    }

    #[test]
    fn a_question_is_written_with_what_it_has() {
        let asked = question(AnswerForm::Words, &["v2", "v3"]);
        let written = serde_json::to_value(&asked).unwrap();
        let expected = json!({
            "id": "q7f3a91", "kind": "ask", "form": "words", "text": "Which schema?",
            "options": ["v2", "v3"], "answerer": "parent", "askedAt": "1970-01-01T00:00:00.000Z",
        });
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<Question>(written).unwrap(), asked);
        assert_eq!(asked.line(), "Which schema? [1 v2, 2 v3]");
    }
}
