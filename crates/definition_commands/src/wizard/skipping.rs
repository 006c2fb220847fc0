//! A person who may skip questions. To cancel one question leaves its field as it is; to cancel the
//! next one too means to leave.

use std::cell::Cell;

use crate::ask::{Answer, Person, Stopped};

pub(super) struct Skipping<'a> {
    person: &'a dyn Person,
    /// True if the last question was cancelled.
    has_skipped: Cell<bool>,
}

impl<'a> Skipping<'a> {
    pub(super) fn new(person: &'a dyn Person) -> Self {
        Self {
            person,
            has_skipped: Cell::new(false),
        }
    }

    fn heard<T>(&self, answer: Answer<T>) -> Answer<T> {
        let answer = answer?;
        if self.has_skipped.replace(answer.is_none()) && answer.is_none() {
            return Err(Stopped::Interrupted);
        }
        Ok(answer)
    }
}

impl Person for Skipping<'_> {
    fn is_there(&self) -> bool {
        self.person.is_there()
    }

    fn yes(&self, question: &str, default: bool) -> Answer<bool> {
        self.heard(self.person.yes(question, default))
    }

    fn line(&self, question: &str, initial: &str, help: &str) -> Answer<String> {
        self.heard(self.person.line(question, initial, help))
    }

    fn place(&self, question: &str, options: &[String], cursor: usize) -> Answer<usize> {
        self.heard(self.person.place(question, options, cursor))
    }

    fn several(&self, question: &str, options: &[String], chosen: &[usize]) -> Answer<Vec<usize>> {
        self.heard(self.person.several(question, options, chosen))
    }

    fn long_text(&self, question: &str, initial: &str) -> Answer<String> {
        self.heard(self.person.long_text(question, initial))
    }

    fn show(&self, page: &str) -> Result<(), Stopped> {
        self.person.show(page)
    }
}
