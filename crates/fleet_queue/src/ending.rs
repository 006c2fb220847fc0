//! Decides what a worker does after it tried to write an entry of its own and did not learn whether
//! it succeeded, or learned that somebody wrote before. This is a rule only.

use crate::lease::{Holder, Sight};
use crate::wire::RunEntry;

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The entry is written: the entry that was read is the one that was to be written.
    Done,
    /// The run belongs to somebody else, or has ended.
    Fenced,
    /// It is written again, over this revision.
    Again {
        /// The revision.
        over: u64,
    },
}

/// Decides the next step after a look at the entry that was to be written. `over` is the revision
/// over which the write was tried.
pub fn after_look(
    holder: &Holder<'_>,
    seen: Option<(&RunEntry, u64)>,
    is_done: bool,
    over: u64,
) -> Next {
    let entry = seen.map(|(entry, _)| entry);
    match (holder.sees(entry), seen) {
        (Sight::Mine, Some((RunEntry::Ended(_), _))) => Next::Done,
        (Sight::Mine, Some(_)) if is_done => Next::Done,
        (Sight::Mine, Some((_, revision))) => Next::Again { over: revision },
        (Sight::Another, _) => Next::Fenced,
        // A server lags behind: the next look shows more.
        (Sight::Mine | Sight::Behind, _) => Next::Again { over },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ended, Running};

    const ME: Holder<'_> = Holder { worker: "me", n: 2 };

    fn running(worker: &str, n: u64) -> RunEntry {
        let (worker, since) = (worker.to_owned(), String::new());
        RunEntry::Running(Running {
            worker,
            n,
            since,
            attempt: 1,
            begun: true,
            ..Running::default()
        })
    }

    fn ended(worker: &str, n: u64) -> RunEntry {
        let worker = worker.to_owned();
        RunEntry::Ended(Box::new(Ended {
            worker,
            n,
            ..Ended::default()
        }))
    }

    #[test]
    fn an_ending_is_written_until_it_is_there_or_somebody_else_has_the_run() {
        let next = |seen: Option<(RunEntry, u64)>| {
            let seen = seen.as_ref().map(|(entry, revision)| (entry, *revision));
            after_look(&ME, seen, false, 7)
        };
        assert_eq!(next(Some((ended("me", 2), 8))), Next::Done);
        assert_eq!(next(Some((ended("other", 3), 9))), Next::Fenced);
        assert_eq!(next(Some((running("other", 3), 9))), Next::Fenced);
        assert_eq!(next(Some((running("me", 2), 7))), Next::Again { over: 7 });
        assert_eq!(next(Some((running("me", 2), 8))), Next::Again { over: 8 });
        assert_eq!(
            next(Some((running("other", 1), 6))),
            Next::Again { over: 7 }
        );
        assert_eq!(next(None), Next::Again { over: 7 });
    }
}
