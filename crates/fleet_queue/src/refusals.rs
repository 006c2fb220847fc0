//! The requests that the server refuses because our key does not permit them. A refusal comes apart
//! from its request, which is then never answered; here the two are brought together, so that no
//! caller waits in vain.

use std::collections::VecDeque;

/// The number of refusals that are remembered. As many requests may be refused at the same moment.
const REMEMBERED: usize = 256;

/// The refusals of the server so far.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// The subject under which answers reach us, as the server names it.
    inbox: String,
    /// True if the server does not let us hear answers over this connection.
    pub(crate) is_deaf: bool,
    /// The number of refusals so far.
    pub(crate) count: usize,
    /// The words of the last ones.
    last: VecDeque<String>,
}

impl Refusals {
    /// Remembers the refusals of a connection whose answers come under an inbox.
    pub(crate) fn of(inbox: &str) -> Self {
        Self {
            inbox: format!("Subscription to \"{inbox}."),
            ..Self::default()
        }
    }

    pub(crate) fn note(&mut self, said: String) {
        self.is_deaf |= !self.inbox.is_empty() && said.contains(&self.inbox);
        self.count += 1;
        self.last.push_back(said);
        if self.last.len() > REMEMBERED {
            self.last.pop_front();
        }
    }

    /// Returns the first refusal behind so many that names something.
    pub(crate) fn after(&self, count: usize, named: &str) -> Option<&String> {
        let new = (self.count - count).min(self.last.len());
        let mut last = self.last.iter().skip(self.last.len() - new);
        last.find(|said| said.contains(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_later_counts_and_only_so_much_is_remembered() {
        let mut refusals = Refusals::default();
        refusals.note("no \"a\"".to_owned());
        assert_eq!(refusals.after(1, "\"a\""), None);
        for _ in 0..REMEMBERED {
            refusals.note("no \"b\"".to_owned());
        }
        refusals.note("no \"c\"".to_owned());
        assert_eq!(refusals.after(1, "\"c\"").unwrap(), "no \"c\"");
        assert_eq!(refusals.after(0, "\"a\""), None);
        assert_eq!(refusals.last.len(), REMEMBERED);
    }
}
