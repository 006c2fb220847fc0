//! The questions of one run, over all its children: which of them are open, how long it waits, and
//! what its child gets for an answer. The time comes in as a value.

use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::{Command, Dialog};
use pi_subagents_vocabulary::{
    AnswerForm, AnswerOutcome, AnsweredQuestion, Answerer, BudgetDenial, BudgetReply, MOST_ASKED,
    MOST_QUESTIONS, NOBODY_ANSWERED, Question, QuestionId, QuestionKind, QuestionLog,
    QuestionTerms, QuestionWords, ReplyProblem, RunId, TakenReply, Timestamp,
};
use serde::Deserialize;
use tokio::time::Instant;

use crate::to_child::{GivenReply, NotSent};

/// The answer to a model that has asked often enough.
const ASKED_ENOUGH: &str = "You have asked 10 questions, and no more are passed on. Decide yourself, and say in your report what you assumed.";

/// What becomes of a dialog of a child.
#[derive(Debug, PartialEq)]
pub(crate) enum DialogFate {
    /// Somebody is asked.
    Asked(Box<Question>),
    /// The child is answered at once.
    Answered(Command),
    /// Nobody is there for it.
    Nobody,
}

/// An answer that a child gets.
#[derive(Debug, PartialEq)]
pub(crate) struct AnswerToChild {
    pub(crate) command: Option<Command>,
    pub(crate) answered: AnsweredQuestion,
    /// The meaning of the answer, if the question was about a budget.
    pub(crate) budget: Option<BudgetReply>,
}

/// The moment in which a child asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    pub(crate) now: Instant,
}

/// The questions of one run.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    terms: QuestionTerms,
    /// The word before the questions of our own tool.
    word: Option<String>,
    asked: u32,
    log: QuestionLog,
    open: Vec<OpenQuestion>,
    /// The beginning of the wait.
    waiting_since: Option<Instant>,
}

#[derive(Debug)]
struct OpenQuestion {
    id: QuestionId,
    dialog: String,
    /// The options as the extension wrote them.
    options: Vec<String>,
    asked: Instant,
    /// The child goes on without an answer then.
    lapses: Option<Instant>,
    /// The budget that it is about, if it is about one: then no child has asked.
    budget: Option<BudgetDenial>,
}

/// A question of our own tool.
#[derive(Deserialize)]
struct Ask {
    question: String,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    options: Vec<String>,
}

impl Questions {
    pub(crate) fn new(terms: QuestionTerms, word: Option<String>) -> Self {
        Self {
            terms,
            word,
            ..Self::default()
        }
    }

    /// Decides what becomes of a dialog.
    pub(crate) fn weigh(&mut self, dialog: &Dialog, random: u32, moment: Moment) -> DialogFate {
        if self.open.len() >= MOST_QUESTIONS {
            return DialogFate::Nobody;
        }
        let id = self.free_id(random);
        let ask = self.own(dialog);
        let is_ask = ask.is_some();
        let question = match ask {
            Some(ask) => {
                let Some(answerer) = self.terms.asks else {
                    return DialogFate::Answered(answer(dialog, NOBODY_ANSWERED));
                };
                if self.asked >= MOST_ASKED {
                    return DialogFate::Answered(answer(dialog, ASKED_ENOUGH));
                }
                ask_of(ask, id, answerer, moment.at)
            }
            None => match self.terms.dialogs {
                Some(answerer) => question_of(dialog, id, answerer, moment.at),
                None => return DialogFate::Nobody,
            },
        };
        self.asked += u32::from(is_ask);
        self.open.push(OpenQuestion {
            id: question.id.clone(),
            dialog: dialog.id.clone(),
            options: dialog.options.clone(),
            asked: moment.now,
            lapses: dialog
                .timeout_ms
                .and_then(|limit| moment.now.checked_add(Duration::from_millis(limit))),
            budget: None,
        });
        self.log.ask(&question);
        self.waiting_since.get_or_insert(moment.now);
        DialogFate::Asked(Box::new(question))
    }

    /// Asks a person whether a budget that is used up may have more.
    pub(crate) fn ask_about(
        &mut self,
        budget: BudgetDenial,
        random: u32,
        moment: Moment,
    ) -> Question {
        let words = budget.question().cleaned();
        let question = Question {
            id: self.free_id(random),
            kind: QuestionKind::Budget,
            form: AnswerForm::Words,
            text: words.text,
            context: words.context,
            options: words.options,
            // Nobody else decides about money.
            answerer: Answerer::Person,
            secret: false,
            asked_at: moment.at,
            lapses_at: None,
        };
        self.open.push(OpenQuestion {
            id: question.id.clone(),
            dialog: String::new(),
            options: question.options.clone(),
            asked: moment.now,
            lapses: None,
            budget: Some(budget),
        });
        self.log.ask(&question);
        question
    }

    /// Closes the question about a budget, if one is open.
    pub(crate) fn close_budget(&mut self, outcome: AnswerOutcome) -> Option<AnswerToChild> {
        let open = self.open.iter().find(|open| open.budget.is_some())?;
        let id = open.id.clone();
        Some(self.close(id, outcome, |_| None))
    }

    /// Returns the meaning of an answer to a question about a budget; `None` for other questions.
    fn budget_reply(
        &self,
        id: &QuestionId,
        taken: &TakenReply,
    ) -> Result<Option<BudgetReply>, ReplyProblem> {
        let open = self.open.iter().find(|open| open.id == *id);
        let Some(budget) = open.and_then(|open| open.budget.as_ref()) else {
            return Ok(None);
        };
        let reply = match taken {
            TakenReply::Cancelled | TakenReply::Confirmed(false) => Some(BudgetReply::Leave),
            TakenReply::Words(words) => budget.read_reply(words),
            TakenReply::Confirmed(true) => None,
        };
        reply.map(Some).ok_or(ReplyProblem::NoSum)
    }

    /// Returns the question of our own tool, if the dialog is one.
    fn own(&self, dialog: &Dialog) -> Option<Ask> {
        let words = dialog
            .title
            .as_deref()?
            .strip_prefix(self.word.as_deref()?)?;
        serde_json::from_str(words).ok()
    }

    fn free_id(&self, mut random: u32) -> QuestionId {
        loop {
            let id = QuestionId::new(random);
            if self.log.all().iter().all(|asked| asked.question.id != id) {
                return id;
            }
            random = random.wrapping_add(1);
        }
    }

    /// Takes an answer. The first one counts.
    pub(crate) fn take(
        &mut self,
        run: &RunId,
        given: &GivenReply,
    ) -> Result<AnswerToChild, NotSent> {
        let asked = self.log.all().iter();
        let asked = asked
            .rev()
            .find(|asked| asked.question.id == given.question);
        let asked = asked.ok_or_else(|| NotSent::NoSuchQuestion {
            run: run.clone(),
            question: given.question.clone(),
        })?;
        if let Some(outcome) = &asked.outcome {
            return Err(NotSent::AnsweredAlready {
                question: given.question.clone(),
                how: outcome.sentence(),
            });
        }
        let question = &asked.question;
        if question.answerer == Answerer::Person && !given.by.is_person() {
            return Err(NotSent::ForPersons(question.id.clone()));
        }
        let taken = question.take(&given.reply)?;
        let outcome = outcome_of(question, &taken, given);
        let is_ask = question.kind == QuestionKind::Ask;
        let id = given.question.clone();
        let budget = self.budget_reply(&id, &taken)?;
        let taken = self.as_asked(&id, taken);
        let closed = self.close(id, outcome, |dialog| {
            (budget.is_none()).then(|| command(dialog, taken, is_ask))
        });
        Ok(AnswerToChild { budget, ..closed })
    }

    /// Returns an answer in the words of the extension, whose options were cleaned to be shown.
    fn as_asked(&self, id: &QuestionId, taken: TakenReply) -> TakenReply {
        let TakenReply::Words(words) = &taken else {
            return taken;
        };
        let shown = self.log.open().find(|question| question.id == *id);
        let place = shown.and_then(|question| {
            let mut options = question.options.iter();
            options.position(|option| option == words)
        });
        let open = self.open.iter().find(|open| open.id == *id);
        let option = open
            .zip(place)
            .and_then(|(open, place)| open.options.get(place));
        option.map_or(taken.clone(), |option| TakenReply::Words(option.clone()))
    }

    /// Returns the questions whose time has passed.
    pub(crate) fn lapsed(&mut self, now: Instant) -> Vec<AnswerToChild> {
        let is_due = |open: &&OpenQuestion| open.lapses.is_some_and(|lapses| now >= lapses);
        let due = self.open.iter().filter(is_due).map(|open| open.id.clone());
        let due: Vec<QuestionId> = due.collect();
        // The child has gone on by itself.
        let lapse = |id| self.close(id, AnswerOutcome::Lapsed, |_| None);
        due.into_iter().map(lapse).collect()
    }

    /// Returns that the child waits for nothing any more.
    pub(crate) fn withdrawn(&mut self) -> Vec<AnswerToChild> {
        let open = self.open.iter().map(|open| open.id.clone());
        let open: Vec<QuestionId> = open.collect();
        let withdraw = |id| self.close(id, AnswerOutcome::Withdrawn, |_| None);
        open.into_iter().map(withdraw).collect()
    }

    fn close(
        &mut self,
        id: QuestionId,
        outcome: AnswerOutcome,
        command: impl FnOnce(String) -> Option<Command>,
    ) -> AnswerToChild {
        let answered = AnsweredQuestion { id, outcome };
        // The time of an answer is that of its event; here it only counts that there is one.
        _ = self.log.answer(&answered, Timestamp::UNIX_EPOCH);
        let place = self.open.iter().position(|open| open.id == answered.id);
        let dialog = place.map(|place| self.open.remove(place).dialog);
        AnswerToChild {
            command: dialog.and_then(command),
            answered,
            budget: None,
        }
    }

    /// Returns the question for which the run is parked now, if it has waited long enough.
    pub(crate) fn to_park(&self, now: Instant) -> Option<&Question> {
        let after = self.terms.park_after?;
        let oldest = self.open.iter().find(|open| open.budget.is_none())?;
        let is_due = oldest
            .asked
            .checked_add(after)
            .is_some_and(|due| now >= due);
        is_due.then(|| self.log.open().find(|question| question.id == oldest.id))?
    }

    /// Returns the dialogs that are open.
    pub(crate) fn open_dialogs(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(|open| open.dialog.as_str())
    }

    /// Returns whether the run waits for an answer.
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns when a question lapses or its run is parked.
    pub(crate) fn alarm(&self) -> Option<Instant> {
        let lapses = self.open.iter().filter_map(|open| open.lapses).min();
        let oldest = self.open.first();
        let parks = oldest.zip(self.terms.park_after);
        let parks = parks.and_then(|(oldest, after)| oldest.asked.checked_add(after));
        lapses.into_iter().chain(parks).min()
    }

    /// Returns for how long the run has waited, once it goes on.
    pub(crate) fn take_wait(&mut self, now: Instant) -> Option<Duration> {
        if self.are_open() {
            return None;
        }
        let since = self.waiting_since.take()?;
        Some(now.saturating_duration_since(since))
    }
}

fn outcome_of(question: &Question, taken: &TakenReply, given: &GivenReply) -> AnswerOutcome {
    let by = given.by;
    let answer = match taken {
        TakenReply::Cancelled => return AnswerOutcome::Cancelled { by },
        TakenReply::Words(_) if question.secret => None,
        TakenReply::Words(words) => Some(words.clone()),
        TakenReply::Confirmed(true) => Some("yes".to_owned()),
        TakenReply::Confirmed(false) => Some("no".to_owned()),
    };
    AnswerOutcome::Answered { answer, by }
}

fn command(id: String, taken: TakenReply, is_ask: bool) -> Command {
    match taken {
        TakenReply::Words(value) => Command::AnswerDialog { id, value },
        TakenReply::Confirmed(confirmed) => Command::ConfirmDialog { id, confirmed },
        TakenReply::Cancelled if is_ask => Command::AnswerDialog {
            id,
            value: NOBODY_ANSWERED.to_owned(),
        },
        TakenReply::Cancelled => Command::CancelDialog { id },
    }
}

fn answer(dialog: &Dialog, value: &str) -> Command {
    Command::AnswerDialog {
        id: dialog.id.clone(),
        value: value.to_owned(),
    }
}

fn ask_of(ask: Ask, id: QuestionId, answerer: Answerer, at: Timestamp) -> Question {
    let words = QuestionWords {
        text: ask.question,
        context: ask.context,
        options: ask.options,
    };
    let words = words.cleaned();
    Question {
        id,
        kind: QuestionKind::Ask,
        form: AnswerForm::Words,
        text: words.text,
        context: words.context,
        options: words.options,
        answerer,
        secret: false,
        asked_at: at,
        lapses_at: None,
    }
}

fn question_of(dialog: &Dialog, id: QuestionId, answerer: Answerer, at: Timestamp) -> Question {
    let words = QuestionWords {
        text: dialog.title.clone().unwrap_or_default(),
        context: dialog.message.clone(),
        options: dialog.options.clone(),
    };
    let words = words.cleaned();
    let form = match dialog.method.as_str() {
        "select" => AnswerForm::Choice,
        "confirm" => AnswerForm::YesNo,
        _ => AnswerForm::Words,
    };
    let limit = dialog.timeout_ms.map(Duration::from_millis);
    Question {
        id,
        kind: QuestionKind::Dialog,
        form,
        secret: form == AnswerForm::Words && words.ask_for_a_secret(),
        text: words.text,
        context: words.context,
        options: words.options,
        answerer,
        asked_at: at,
        lapses_at: limit.and_then(|limit| at.checked_add(limit).ok()),
    }
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
