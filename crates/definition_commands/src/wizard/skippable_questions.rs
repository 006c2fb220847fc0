//! A person who may skip questions. To cancel one question leaves its field as it is; to cancel the
//! next one too means to leave.

use std::cell::Cell;

use crate::ask::{DialogEnd, Person, Skippable};

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

    fn count_skipped<T>(&self, answer: Skippable<T>) -> Skippable<T> {
        let answer = answer?;
        if self.has_skipped.replace(answer.is_none()) && answer.is_none() {
            return Err(DialogEnd::Interrupted);
        }
        Ok(answer)
    }
}

impl Person for Skipping<'_> {
    fn is_there(&self) -> bool {
        self.person.is_there()
    }

    fn yes(&self, question: &str, default: bool) -> Skippable<bool> {
        self.count_skipped(self.person.yes(question, default))
    }

    fn line(&self, question: &str, initial: &str, help: &str) -> Skippable<String> {
        self.count_skipped(self.person.line(question, initial, help))
    }

    fn place(&self, question: &str, options: &[String], cursor: usize) -> Skippable<usize> {
        self.count_skipped(self.person.place(question, options, cursor))
    }

    fn several(
        &self,
        question: &str,
        options: &[String],
        chosen: &[usize],
    ) -> Skippable<Vec<usize>> {
        self.count_skipped(self.person.several(question, options, chosen))
    }

    fn long_text(&self, question: &str, initial: &str) -> Skippable<String> {
        self.count_skipped(self.person.long_text(question, initial))
    }

    fn show(&self, page: &str) -> Result<(), DialogEnd> {
        self.person.show(page)
    }
}
