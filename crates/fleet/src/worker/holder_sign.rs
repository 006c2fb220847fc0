//! Decides whether a run is taken from the worker in its entry. This is a rule only.
//!
//! The card of a worker names the runs that it has, also those whose work is done and whose end is
//! not written yet. It vanishes a lease after the last sign of its worker, and a worker that is cut
//! off has stopped its children by then. So a card with the run is the proof that somebody has it,
//! and a late sign for the one message is none.

/// A look at the card of the worker that a run would be taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HolderSign {
    /// The card names the run.
    HasRun,
    /// The card does not name the run.
    LetGo,
    /// There is no card.
    NoCard,
    /// The servers do not answer.
    Unknown,
}

/// The next step of the worker that got the run delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It leaves the run to the other worker.
    Leave,
    /// It takes the run.
    Take,
    /// It looks at the card once more.
    LookAgain,
}

/// The looks at one card, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watch {
    /// The last look, if it found that nobody has the run. A server that lags behind shows an old
    /// card for a moment, so one look is not enough.
    last: Option<HolderSign>,
}

impl Watch {
    /// Returns the step after a look. If the servers were away until a moment ago, a worker without a
    /// card may be on its way back.
    pub(super) fn after(&mut self, sign: HolderSign, were_away: bool) -> Step {
        let is_known = self.last.replace(sign) == Some(sign);
        match sign {
            HolderSign::HasRun => Step::Leave,
            HolderSign::LetGo if is_known => Step::Take,
            HolderSign::NoCard if is_known && !were_away => Step::Take,
            HolderSign::LetGo | HolderSign::NoCard | HolderSign::Unknown => Step::LookAgain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HolderSign::{HasRun, LetGo, NoCard, Unknown};
    use super::Step::{Leave, LookAgain, Take};
    use super::*;

    fn steps(looks: &[(HolderSign, bool)]) -> Vec<Step> {
        let mut watch = Watch::default();
        let step = |(sign, were_away): &(HolderSign, bool)| watch.after(*sign, *were_away);
        looks.iter().map(step).collect()
    }

    #[test]
    fn a_run_stays_with_a_worker_whose_card_names_it() {
        assert_eq!(steps(&[(HasRun, false)]), [Leave]);
        let back = [(NoCard, true), (Unknown, true), (HasRun, true)];
        assert_eq!(steps(&back), [LookAgain, LookAgain, Leave]);
    }

    #[test]
    fn a_run_is_taken_when_two_looks_in_a_row_find_that_nobody_has_it() {
        assert_eq!(steps(&[(NoCard, false); 2]), [LookAgain, Take]);
        assert_eq!(steps(&[(LetGo, true); 2]), [LookAgain, Take]);
        let between = [(LetGo, false), (Unknown, false), (LetGo, false)];
        assert_eq!(steps(&between), [LookAgain; 3]);
    }

    #[test]
    fn a_worker_without_a_card_gets_time_to_come_back_with_the_servers() {
        let looks = [(NoCard, true), (NoCard, true), (NoCard, false)];
        assert_eq!(steps(&looks), [LookAgain, LookAgain, Take]);
    }
}
