//! The moment from which tools are refused. The owner of a run names it: at once, or after a number of
//! answers, which the agent counts itself because a tool may be faster than a message of the owner.

use std::cell::RefCell;

/// The moment from which all tools but the report are refused, if there is one.
#[derive(Debug, Default)]
pub(crate) struct ToolStop(RefCell<Option<Announced>>);

#[derive(Debug)]
struct Announced {
    /// The answers after which it begins; 0 if it has begun.
    answers: u32,
    /// The reason that refused calls show.
    reason: String,
}

impl ToolStop {
    /// Lets it begin with the calls of this many answers from now on, the last one included.
    pub(crate) fn announce(&self, answers: u32, reason: String) {
        self.0.replace(Some(Announced { answers, reason }));
    }

    /// Counts an answer whose calls are about to run.
    pub(crate) fn note_answer(&self) {
        if let Some(announced) = &mut *self.0.borrow_mut() {
            announced.answers = announced.answers.saturating_sub(1);
        }
    }

    /// Returns the reason for which tools are refused, once they are.
    pub(crate) fn reason(&self) -> Option<String> {
        let announced = self.0.borrow();
        let begun = announced.as_ref().filter(|stop| stop.answers == 0);
        begun.map(|stop| stop.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn tools_are_refused_from_the_answer_that_was_named() {
        let stop = ToolStop::default();
        stop.note_answer();
        assert_eq!(stop.reason(), None);
        stop.announce(2, "enough".to_owned());
        stop.note_answer();
        assert_eq!(stop.reason(), None);
        stop.note_answer();
        assert_eq!(stop.reason().as_deref(), Some("enough"));
        stop.announce(0, "now".to_owned());
        assert_eq!(stop.reason().as_deref(), Some("now"));
    }
}
