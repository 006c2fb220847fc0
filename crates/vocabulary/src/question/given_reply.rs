//! What somebody gave for an answer, and what a question makes of it.

use serde::{Deserialize, Serialize};

use super::{AnswerForm, NOBODY_ANSWERED, Question, QuestionKind};
use crate::text;

/// The largest number of bytes of an answer.
const LONGEST_ANSWER: usize = 64 << 10;

/// An answer as somebody gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reply {
    /// These words. The number or the words of an option stand for the option.
    Words(String),
    /// The option with this number; the first is 1.
    Option(usize),
    /// Yes.
    Yes,
    /// No.
    No,
    /// No answer.
    Cancel,
}

/// An answer as the child gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenReply {
    /// These words.
    Words(String),
    /// Yes or no.
    Confirmed(bool),
    /// No answer.
    Cancelled,
}

impl TakenReply {
    /// Returns the prompt with which a parked run goes on.
    pub fn prompt(&self, question: &str) -> String {
        let question = text::one_line(question);
        match self {
            Self::Words(words) => format!("Answer to your question \"{question}\": {words}"),
            Self::Confirmed(true) => format!("Answer to \"{question}\": yes. Do it again."),
            Self::Confirmed(false) => format!("Answer to \"{question}\": no."),
            Self::Cancelled => format!("Your question was \"{question}\". {NOBODY_ANSWERED}"),
        }
    }
}

/// The reason why an answer is no answer to its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyProblem {
    /// It needs one of its options.
    #[error("the question has {0} options, and the answer must be the number or the words of one")]
    NoSuchOption(usize),
    /// It has no options.
    #[error("the question has no options; answer it with a sentence")]
    NoOptions,
    /// It needs yes or no.
    #[error("the question wants yes or no")]
    YesOrNo,
    /// It wants words or an option.
    #[error("the question does not want yes or no, but {0}")]
    NotYesOrNo(&'static str),
    /// It wants a sum.
    #[error("the question wants one of its options, or a sum with a plus, such as +5")]
    NoSum,
    /// There are no words in it.
    #[error("the answer is empty")]
    Empty,
    /// It is too long.
    #[error("the answer has {0} bytes, and at most {LONGEST_ANSWER} fit")]
    TooLong(usize),
}

impl Question {
    /// Returns what the child gets for an answer.
    pub fn take(&self, reply: &Reply) -> Result<TakenReply, ReplyProblem> {
        match (reply, self.form) {
            (Reply::Cancel, _) => Ok(TakenReply::Cancelled),
            (Reply::Yes | Reply::Option(1), AnswerForm::YesNo) => Ok(TakenReply::Confirmed(true)),
            (Reply::No | Reply::Option(2), AnswerForm::YesNo) => Ok(TakenReply::Confirmed(false)),
            (Reply::Yes, _) => self.word("yes"),
            (Reply::No, _) => self.word("no"),
            (Reply::Option(_), AnswerForm::YesNo) => Err(ReplyProblem::YesOrNo),
            (Reply::Option(number), _) => self.option(*number),
            (Reply::Words(words), AnswerForm::YesNo) => {
                let said = yes_or_no(words).ok_or(ReplyProblem::YesOrNo)?;
                Ok(TakenReply::Confirmed(said))
            }
            (Reply::Words(words), AnswerForm::Choice) => self
                .meant(words)
                .map(|option| TakenReply::Words(option.to_owned()))
                .ok_or(ReplyProblem::NoSuchOption(self.options.len())),
            (Reply::Words(words), AnswerForm::Words) => self.words(words),
        }
    }

    /// Takes "yes" or "no" for a question that has an option of this name.
    fn word(&self, word: &str) -> Result<TakenReply, ReplyProblem> {
        let option = self.options.iter();
        let option = option
            .clone()
            .find(|option| option.eq_ignore_ascii_case(word));
        match option {
            Some(option) => Ok(TakenReply::Words(option.clone())),
            None if self.kind == QuestionKind::Ask && self.options.is_empty() => {
                Ok(TakenReply::Words(word.to_owned()))
            }
            None => Err(ReplyProblem::NotYesOrNo(self.how())),
        }
    }

    fn option(&self, number: usize) -> Result<TakenReply, ReplyProblem> {
        if self.options.is_empty() {
            return Err(ReplyProblem::NoOptions);
        }
        let option = number
            .checked_sub(1)
            .and_then(|place| self.options.get(place));
        option
            .map(|option| TakenReply::Words(option.clone()))
            .ok_or(ReplyProblem::NoSuchOption(self.options.len()))
    }

    fn words(&self, words: &str) -> Result<TakenReply, ReplyProblem> {
        if let Some(option) = self.meant(words) {
            return Ok(TakenReply::Words(option.to_owned()));
        }
        match words.len() {
            _ if words.trim().is_empty() => Err(ReplyProblem::Empty),
            bytes if bytes > LONGEST_ANSWER => Err(ReplyProblem::TooLong(bytes)),
            _ => Ok(TakenReply::Words(words.to_owned())),
        }
    }

    /// Returns the option that these words stand for.
    fn meant(&self, words: &str) -> Option<&str> {
        let words = text::one_line(words);
        let by_number = words.parse::<usize>().ok();
        let by_number = by_number.and_then(|number| self.options.get(number.checked_sub(1)?));
        let by_words = || {
            self.options
                .iter()
                .find(|option| option.eq_ignore_ascii_case(&words))
        };
        by_number.or_else(by_words).map(String::as_str)
    }
}

fn yes_or_no(words: &str) -> Option<bool> {
    match words.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "1" => Some(true),
        "n" | "no" | "2" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::testing::question;
    use super::*;

    fn taken(form: AnswerForm, options: &[&str], reply: &Reply) -> String {
        match question(form, options).take(reply) {
            Ok(TakenReply::Words(words)) => words,
            Ok(TakenReply::Confirmed(said)) => format!("{said}"),
            Ok(TakenReply::Cancelled) => "cancelled".to_owned(),
            Err(problem) => format!("! {problem}"),
        }
    }

    #[test]
    fn each_form_takes_what_it_can() {
        use AnswerForm::{Choice, Words, YesNo};
        let words = |words: &str| Reply::Words(words.to_owned());
        let two: &[&str] = &["Allow once", "Deny"];
        let table = [
            taken(Choice, two, &words("2")),
            taken(Choice, two, &words("allow ONCE")),
            taken(Choice, two, &words("perhaps")),
            taken(Choice, two, &Reply::Option(1)),
            taken(Choice, two, &Reply::Option(0)),
            taken(Choice, two, &Reply::Yes),
            taken(Choice, &["Yes", "No"], &Reply::No),
            taken(YesNo, &[], &Reply::Yes),
            taken(YesNo, &[], &words(" N ")),
            taken(YesNo, &[], &words("maybe")),
            taken(Words, &[], &words("v3, because v2 is old")),
            taken(Words, &["v2", "v3"], &words("2")),
            taken(Words, &["v2", "v3"], &words("both")),
            taken(Words, &[], &Reply::Option(1)),
            taken(Words, &[], &words(" ")),
            taken(Words, &[], &Reply::Yes),
            taken(Words, &[], &Reply::Cancel),
        ];
        insta::assert_snapshot!(table.join("\n"), @"
        Deny
        Allow once
        ! the question has 2 options, and the answer must be the number or the words of one
        Allow once
        ! the question has 2 options, and the answer must be the number or the words of one
        ! the question does not want yes or no, but the number of an option
        No
        true
        false
        ! the question wants yes or no
        v3, because v2 is old
        v3
        both
        ! the question has no options; answer it with a sentence
        ! the answer is empty
        yes
        cancelled
        ");
    }

    #[test]
    fn an_answer_has_a_limit() {
        let long = Reply::Words("x".repeat(LONGEST_ANSWER + 1));
        let taken = question(AnswerForm::Words, &[]).take(&long);
        assert_eq!(taken, Err(ReplyProblem::TooLong(LONGEST_ANSWER + 1)));
    }
}
