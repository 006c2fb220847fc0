//! Decides whether a run may continue a conversation. This is a rule only.
//!
//! A conversation has one holder at a time. A worker that holds it saves it by ending its run: the
//! entry of the run names the object, so one compare-and-set decides about both, and a worker that
//! was fenced has saved nothing.

use crate::wire::{RunEntry, SavedSession, SessionEntry, SessionHolder};

/// The run that wants to continue a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taker {
    /// The run that wants it.
    pub holder: SessionHolder,
    /// A run of the taker's own machine of which it knows that it is over.
    pub is_over: Option<String>,
}

/// The decision about a conversation that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holding {
    /// It may be taken, and goes on behind this.
    Free(Option<SavedSession>),
    /// This run has it.
    InUse(SessionHolder),
}

/// Decides whether a conversation may be taken. `of_holder` is the entry of the run that holds it,
/// where a worker does that run.
pub fn decide(
    entry: Option<&SessionEntry>,
    of_holder: Option<&RunEntry>,
    taker: &Taker,
) -> Holding {
    let Some(entry) = entry else {
        return Holding::Free(None);
    };
    let saved = entry.saved.clone();
    let Some(holder) = &entry.holder else {
        return Holding::Free(saved);
    };
    let in_use = || Holding::InUse(holder.clone());
    if holder.run == taker.holder.run {
        // A later delivery of the same run has fenced the earlier one.
        return if holder.n <= taker.holder.n {
            Holding::Free(saved)
        } else {
            in_use()
        };
    }
    if holder.machine.is_some() {
        let is_over = taker.is_over.as_deref() == Some(holder.run.as_str());
        return if is_over {
            Holding::Free(saved)
        } else {
            in_use()
        };
    }
    match of_holder {
        Some(RunEntry::Ended(ended)) => Holding::Free(ended.session.clone().or(saved)),
        Some(RunEntry::Running(_) | RunEntry::Released(_)) => in_use(),
        // A holder has an entry until the fleet forgets it.
        None => Holding::Free(saved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ended, Running};

    fn holder(run: &str, n: u64, machine: Option<&str>) -> SessionHolder {
        SessionHolder {
            run: run.to_owned(),
            n,
            machine: machine.map(str::to_owned),
        }
    }

    fn saved(object: &str) -> SavedSession {
        let object = object.to_owned();
        SavedSession { object, size: 1 }
    }

    fn held(by: SessionHolder) -> SessionEntry {
        SessionEntry {
            holder: Some(by),
            saved: Some(saved("old")),
        }
    }

    fn taker(run: &str, n: u64) -> Taker {
        Taker {
            holder: holder(run, n, None),
            is_over: None,
        }
    }

    #[test]
    fn a_conversation_that_nobody_has_is_free() {
        assert_eq!(decide(None, None, &taker("a", 1)), Holding::Free(None));
        let entry = SessionEntry {
            holder: None,
            saved: Some(saved("old")),
        };
        let free = Holding::Free(Some(saved("old")));
        assert_eq!(decide(Some(&entry), None, &taker("a", 1)), free);
    }

    #[test]
    fn the_end_of_the_holder_frees_it_with_what_that_run_saved() {
        let entry = held(holder("b", 1, None));
        let running = RunEntry::Running(Running {
            worker: "w".to_owned(),
            n: 1,
            since: String::new(),
            attempt: 1,
            begun: true,
            ..Running::default()
        });
        let in_use = Holding::InUse(holder("b", 1, None));
        assert_eq!(decide(Some(&entry), Some(&running), &taker("a", 9)), in_use);
        let ended = |session| {
            let ended = Ended {
                session,
                ..Ended::default()
            };
            RunEntry::Ended(Box::new(ended))
        };
        let said = |session| decide(Some(&entry), Some(&ended(session)), &taker("a", 1));
        assert_eq!(said(Some(saved("new"))), Holding::Free(Some(saved("new"))));
        assert_eq!(said(None), Holding::Free(Some(saved("old"))));
        let forgotten = decide(Some(&entry), None, &taker("a", 1));
        assert_eq!(forgotten, Holding::Free(Some(saved("old"))));
    }

    #[test]
    fn a_later_delivery_of_the_same_run_takes_it_and_an_earlier_one_does_not() {
        let entry = held(holder("a", 2, None));
        let decisions = [1, 2, 3].map(|n| decide(Some(&entry), None, &taker("a", n)));
        let free = Holding::Free(Some(saved("old")));
        let in_use = Holding::InUse(holder("a", 2, None));
        assert_eq!(decisions, [in_use, free.clone(), free]);
    }

    #[test]
    fn a_run_on_a_machine_of_a_caller_has_it_until_that_machine_knows_better() {
        let entry = held(holder("b", 0, Some("ada@laptop")));
        let in_use = Holding::InUse(holder("b", 0, Some("ada@laptop")));
        assert_eq!(decide(Some(&entry), None, &taker("a", 1)), in_use);
        let knows = Taker {
            is_over: Some("b".to_owned()),
            ..taker("a", 0)
        };
        let free = Holding::Free(Some(saved("old")));
        assert_eq!(decide(Some(&entry), None, &knows), free);
    }
}
