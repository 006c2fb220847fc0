//! A person inside pi: our questions are pi's dialogs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use pi_subagents_vocabulary::text::clean;
use tokio::runtime::Handle;

use super::link::HostLink;
use pi_subagents_definition_commands::ask::{DialogEnd, Person, Skippable};

/// The option that ends a choice of several.
const GO_ON: &str = "Continue with these";

/// The number of times that somebody may choose before the choice counts as made.
const MOST_ROUNDS: usize = 200;

/// Asks from a thread of its own, while the runtime goes on.
pub(super) struct InPi {
    pub(super) link: HostLink,
    pub(super) runtime: Handle,
    pub(super) has_ui: bool,
    /// The subject of the next question.
    pub(super) page: RefCell<String>,
}

impl Person for InPi {
    fn is_there(&self) -> bool {
        self.has_ui
    }

    /// Asks a question. Pi's dialog for yes and no selects yes first, so it serves only where a page
    /// is shown that the person agrees to.
    fn yes(&self, question: &str, default: bool) -> Skippable<bool> {
        let page = clean(&self.page.take());
        if page.is_empty() {
            let options = ["No".to_owned(), "Yes".to_owned()];
            let place = self.place(question, &options, usize::from(default))?;
            return Ok(place.map(|place| place == 1));
        }
        let question = clean(question);
        Ok(self.runtime.block_on(self.link.confirm(&question, &page)))
    }

    fn line(&self, question: &str, initial: &str, help: &str) -> Skippable<String> {
        let question = clean(&format!("{question} {help}"));
        let initial = clean(initial);
        Ok(self.runtime.block_on(self.link.input(&question, &initial)))
    }

    /// Lets the person select. Pi selects the first option, so the current value comes first.
    fn place(&self, question: &str, options: &[String], cursor: usize) -> Skippable<usize> {
        let mut offered: Vec<String> = options.iter().map(|option| clean(option)).collect();
        let current = (cursor < offered.len()).then(|| offered.remove(cursor));
        offered.splice(0..0, current);
        let question = clean(question);
        let chosen = self.runtime.block_on(self.link.select(&question, &offered));
        let place = |chosen: String| options.iter().position(|option| clean(option) == chosen);
        Ok(chosen.and_then(place))
    }

    /// Lets the person select one option after the other, because pi has no dialog for several.
    fn several(
        &self,
        question: &str,
        options: &[String],
        chosen: &[usize],
    ) -> Skippable<Vec<usize>> {
        let mut chosen: BTreeSet<usize> = chosen.iter().copied().collect();
        // A person who toggles needs a few rounds; a client that answers by itself must come to an
        // end.
        for _ in 0..MOST_ROUNDS {
            let marked = options.iter().enumerate().map(|(place, option)| {
                let mark = if chosen.contains(&place) { "x" } else { " " };
                format!("[{mark}] {option}")
            });
            let offered: Vec<String> = std::iter::once(GO_ON.to_owned()).chain(marked).collect();
            match self.place(question, &offered, 0)? {
                None => return Ok(None),
                Some(0) => break,
                Some(place) if !chosen.remove(&(place - 1)) => _ = chosen.insert(place - 1),
                Some(_) => {}
            }
        }
        Ok(Some(chosen.into_iter().collect()))
    }

    fn long_text(&self, question: &str, initial: &str) -> Skippable<String> {
        let question = clean(question);
        Ok(self.runtime.block_on(self.link.editor(&question, initial)))
    }

    fn show(&self, page: &str) -> Result<(), DialogEnd> {
        page.clone_into(&mut self.page.borrow_mut());
        Ok(())
    }
}
