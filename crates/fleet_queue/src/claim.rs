//! Decides whether a worker may take a run that was delivered to it. This is a rule only.
//!
//! The number of the delivery is the fencing token. It grows with each delivery of the same
//! message, so a delivery that was held up on its way, and comes when a later one was claimed
//! already, is left alone.

use crate::wire::{LeftBy, RunEntry};

/// The number of times that a run may be taken from a lost worker before its child was ever
/// started. An order that kills every worker must not go round for ever.
const MOST_LOSSES: u32 = 10;

/// The facts that a worker knows of a run that was delivered to it.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The run's entry.
    pub entry: Option<&'a RunEntry>,
    /// The reason why the entry cannot be read, if it cannot.
    pub unreadable: Option<&'a str>,
    /// The number of the delivery.
    pub n: u64,
    /// The number of times that the run is begun again after its worker was lost.
    pub retries: u32,
    /// The person who wants the run to be stopped, if anybody does.
    pub stop: Option<&'a str>,
    /// This is true if the caller who waits for it is gone.
    pub is_caller_gone: bool,
}

/// The decision of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimDecision {
    /// It acknowledges the message: the run has ended.
    Acknowledge,
    /// It does nothing: a later delivery has the run.
    Leave,
    /// It takes the run.
    Take(Taking),
}

/// The terms on which a run is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taking {
    /// The number of this attempt.
    pub attempt: u32,
    /// The number of times that the run was taken from a lost worker by now.
    pub losses: u32,
    /// The workers that could not do the run and left it to others, with their reasons.
    pub left_by: LeftBy,
    /// The reason why the run is ended and not begun, if it is.
    pub give_up: Option<GiveUp>,
}

/// The reason why a run that was taken is not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GiveUp {
    /// Its workers were lost more often than its retries allow.
    Lost {
        /// The number of lost workers.
        losses: u32,
    },
    /// Somebody wants it to be stopped.
    Stopped {
        /// The person who wanted it.
        by: String,
    },
    /// Nobody waits for it any more.
    CallerGone,
    /// Its entry cannot be read, so nobody knows how often it was begun.
    Unreadable {
        /// The fault in the entry.
        why: String,
    },
}

/// Decides what a worker does with a delivery.
pub fn decide(facts: &Facts<'_>) -> ClaimDecision {
    let (attempt, losses) = match facts.entry {
        Some(RunEntry::Ended(_)) => return ClaimDecision::Acknowledge,
        Some(entry) if entry.n() >= facts.n => return ClaimDecision::Leave,
        Some(RunEntry::Running(lost)) => (lost.attempt + u32::from(lost.begun), lost.losses + 1),
        Some(RunEntry::Released(given)) => (given.attempt, given.losses),
        None => (1, 0),
    };
    ClaimDecision::Take(Taking {
        left_by: facts.entry.map(RunEntry::left_by).unwrap_or_default(),
        ..taking(facts, attempt, losses)
    })
}

/// Returns how a run is taken in this attempt, after so many losses.
pub fn taking(facts: &Facts<'_>, attempt: u32, losses: u32) -> Taking {
    let is_lost = attempt > facts.retries.saturating_add(1) || losses > MOST_LOSSES;
    let give_up = match facts.stop {
        Some(by) => Some(GiveUp::Stopped { by: by.to_owned() }),
        None if facts.is_caller_gone => Some(GiveUp::CallerGone),
        None => match facts.unreadable {
            Some(why) => Some(GiveUp::Unreadable {
                why: why.to_owned(),
            }),
            None => is_lost.then_some(GiveUp::Lost { losses }),
        },
    };
    Taking {
        attempt,
        losses,
        left_by: LeftBy::new(),
        give_up,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ended, Released, Running};

    fn facts(entry: Option<&RunEntry>, n: u64) -> Facts<'_> {
        Facts {
            entry,
            unreadable: None,
            n,
            retries: 1,
            stop: None,
            is_caller_gone: false,
        }
    }

    fn running(n: u64, attempt: u32, begun: bool, losses: u32) -> RunEntry {
        let (worker, since) = (String::new(), String::new());
        RunEntry::Running(Running {
            worker,
            n,
            since,
            attempt,
            begun,
            losses,
            left_by: LeftBy::new(),
        })
    }

    fn take(attempt: u32, losses: u32, give_up: Option<GiveUp>) -> ClaimDecision {
        ClaimDecision::Take(Taking {
            attempt,
            losses,
            left_by: LeftBy::new(),
            give_up,
        })
    }

    #[test]
    fn a_run_is_taken_if_the_delivery_is_newer_than_its_entry() {
        assert_eq!(decide(&facts(None, 1)), take(1, 0, None));
        let entry = running(2, 1, true, 0);
        let decisions = [1, 2, 3].map(|n| decide(&facts(Some(&entry), n)));
        assert_eq!(
            decisions,
            [ClaimDecision::Leave, ClaimDecision::Leave, take(2, 1, None)]
        );
        let ended = RunEntry::Ended(Box::new(Ended {
            n: 9,
            ..Ended::default()
        }));
        let decisions = [1, 20].map(|n| decide(&facts(Some(&ended), n)));
        assert_eq!(
            decisions,
            [ClaimDecision::Acknowledge, ClaimDecision::Acknowledge]
        );
    }

    #[test]
    fn only_an_attempt_that_was_begun_counts() {
        let not_begun = running(1, 2, false, 1);
        assert_eq!(decide(&facts(Some(&not_begun), 2)), take(2, 2, None));
        let worker = String::new();
        let given = RunEntry::Released(Released {
            n: 1,
            worker,
            attempt: 2,
            losses: 1,
            left_by: LeftBy::from([("build-7".to_owned(), "no room".to_owned())]),
        });
        // The next worker knows who could not do it.
        let mut taken = taking(&facts(None, 2), 2, 1);
        taken.left_by = given.left_by();
        assert_eq!(decide(&facts(Some(&given), 2)), ClaimDecision::Take(taken));
        let begun = running(1, 2, true, 1);
        let lost = Some(GiveUp::Lost { losses: 2 });
        assert_eq!(decide(&facts(Some(&begun), 2)), take(3, 2, lost));
    }

    #[test]
    fn an_order_that_kills_every_worker_is_given_up() {
        let entry = running(30, 1, false, MOST_LOSSES);
        let losses = MOST_LOSSES + 1;
        let lost = Some(GiveUp::Lost { losses });
        assert_eq!(decide(&facts(Some(&entry), 31)), take(1, losses, lost));
    }

    #[test]
    fn a_run_whose_entry_cannot_be_read_is_taken_in_order_to_end_it() {
        let spoilt = Facts {
            unreadable: Some("no state"),
            ..facts(None, 4)
        };
        let why = "no state".to_owned();
        assert_eq!(
            decide(&spoilt),
            take(1, 0, Some(GiveUp::Unreadable { why }))
        );
    }

    #[test]
    fn a_run_that_nobody_wants_is_taken_in_order_to_end_it() {
        let stopped = Facts {
            stop: Some("ada"),
            is_caller_gone: true,
            ..facts(None, 1)
        };
        let by = "ada".to_owned();
        assert_eq!(decide(&stopped), take(1, 0, Some(GiveUp::Stopped { by })));
        let alone = Facts {
            is_caller_gone: true,
            ..facts(None, 1)
        };
        assert_eq!(decide(&alone), take(1, 0, Some(GiveUp::CallerGone)));
        let entry = running(5, 1, true, 0);
        let late = Facts {
            stop: Some("ada"),
            ..facts(Some(&entry), 5)
        };
        assert_eq!(decide(&late), ClaimDecision::Leave);
    }
}
