//! The questions of one run: a fold over what was asked and answered.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AnswerOutcome, AnsweredQuestion, Question, QuestionId, QuestionKind};
use crate::moment;

/// The number of questions of one run that are held; answered ones go first.
pub const MOST_QUESTIONS: usize = 32;

/// A question with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskedQuestion {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// What became of it, once it is no longer open.
    #[serde(flatten)]
    pub outcome: Option<AnswerOutcome>,
    /// The time at which that was.
    #[serde(
        default,
        with = "moment::optional",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub answered_at: Option<Timestamp>,
}

impl AskedQuestion {
    /// Returns whether the run waits for it.
    pub fn is_open(&self) -> bool {
        self.outcome.is_none()
    }
}

/// The questions of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionLog {
    asked: Vec<AskedQuestion>,
}

impl QuestionLog {
    /// Adds a question.
    pub fn ask(&mut self, question: &Question) {
        if self.asked.len() >= MOST_QUESTIONS {
            let oldest = self.asked.iter().position(|asked| !asked.is_open());
            self.asked.remove(oldest.unwrap_or_default());
        }
        self.asked.push(AskedQuestion {
            question: question.clone(),
            outcome: None,
            answered_at: None,
        });
    }

    /// Notes what became of a question. Returns the question, if it was open.
    pub fn answer(&mut self, answered: &AnsweredQuestion, at: Timestamp) -> Option<&Question> {
        let mut open = self.asked.iter_mut().filter(|asked| asked.is_open());
        let asked = open.find(|asked| asked.question.id == answered.id)?;
        asked.outcome = Some(answered.outcome.clone());
        asked.answered_at = Some(at);
        Some(&asked.question)
    }

    /// Notes that the run is over: its child waits for nothing any more. The question for which it
    /// was parked stays open.
    pub fn end(&mut self, parked: Option<&QuestionId>, at: Timestamp) {
        let open = self.asked.iter_mut().filter(|asked| asked.is_open());
        for asked in open.filter(|asked| Some(&asked.question.id) != parked) {
            asked.outcome = Some(AnswerOutcome::Withdrawn);
            asked.answered_at = Some(at);
        }
    }

    /// Returns all questions, in the order in which they were asked.
    pub fn all(&self) -> &[AskedQuestion] {
        &self.asked
    }

    /// Returns the questions for which the run waits, in the order in which they were asked.
    pub fn open(&self) -> impl Iterator<Item = &Question> {
        let open = self.asked.iter().filter(|asked| asked.is_open());
        open.map(|asked| &asked.question)
    }

    /// Returns whether the run waits for an answer.
    pub fn is_waiting(&self) -> bool {
        self.asked.iter().any(AskedQuestion::is_open)
    }

    /// Returns whether a model asked this question with its tool.
    pub fn is_ask(&self, id: &QuestionId) -> bool {
        let mut asked = self.asked.iter();
        asked.any(|asked| asked.question.id == *id && asked.question.kind == QuestionKind::Ask)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::testing::question;
    use super::super::{AnswerForm, Respondent};
    use super::*;

    fn numbered(number: u32) -> Question {
        Question {
            id: QuestionId::new(number),
            ..question(AnswerForm::Words, &[])
        }
    }

    fn answered(number: u32) -> AnsweredQuestion {
        AnsweredQuestion {
            id: QuestionId::new(number),
            outcome: AnswerOutcome::Answered {
                answer: Some("v3".to_owned()),
                by: Respondent::Terminal,
            },
        }
    }

    #[test]
    fn the_first_answer_counts_and_the_end_withdraws_the_others() {
        let at = Timestamp::UNIX_EPOCH;
        let mut log = QuestionLog::default();
        for number in 1..=3 {
            log.ask(&numbered(number));
        }
        assert!(log.answer(&answered(2), at).is_some());
        assert!(log.answer(&answered(2), at).is_none());
        assert!(log.answer(&answered(9), at).is_none());
        let open: Vec<&str> = log.open().map(|question| question.id.as_str()).collect();
        assert_eq!(open, ["q000001", "q000003"]);
        log.end(Some(&QuestionId::new(3)), at);
        let outcomes: Vec<Option<AnswerOutcome>> = log
            .all()
            .iter()
            .map(|asked| asked.outcome.clone())
            .collect();
        let expected = [
            Some(AnswerOutcome::Withdrawn),
            Some(answered(2).outcome),
            None,
        ];
        assert_eq!(outcomes, expected);
    }

    #[test]
    fn answered_questions_go_first_when_there_are_many() {
        let mut log = QuestionLog::default();
        for number in 0..32 {
            log.ask(&numbered(number));
        }
        _ = log.answer(&answered(5), Timestamp::UNIX_EPOCH);
        log.ask(&numbered(100));
        assert_eq!(log.all().len(), MOST_QUESTIONS);
        assert!(log.open().any(|question| question.id == QuestionId::new(0)));
        assert!(
            !log.all()
                .iter()
                .any(|asked| asked.question.id == QuestionId::new(5))
        );
    }
}
