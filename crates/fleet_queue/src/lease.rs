//! Decides how long a worker may believe that a run is its own. These are rules only: observations
//! and elapsed times come in, and decisions come out.

use std::time::Duration;

use crate::wire::RunEntry;

/// The time for which a run is lent to a worker, and the shorter times that follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The time after which the server gives the run to another worker.
    pub length: Duration,
}

impl Lease {
    /// Returns the pause between two signs of the worker.
    pub fn beat(self) -> Duration {
        self.length / 6
    }

    /// Returns how long after its arrival the first sign for a run is sent: soon, because the message
    /// may have waited on its way.
    pub fn first_beat(self) -> Duration {
        self.length / 60
    }

    /// Returns the silence after which a worker stops its child by itself. The rest of the lease is
    /// for stopping it.
    pub fn self_stop(self) -> Duration {
        self.length * 2 / 3
    }

    /// Returns how long after a return of the servers a worker may need to come back too. It tries to
    /// every four seconds, and a busy machine takes longer.
    pub fn to_return(self) -> Duration {
        self.length.max(SLOW_RETURN)
    }

    /// Returns whether a worker must stop whose last confirmed sign is this old.
    pub fn is_over(self, silence: Duration) -> bool {
        silence >= self.self_stop()
    }
}

/// The time that a worker on a busy machine may need to come back, however short the leases are.
const SLOW_RETURN: Duration = Duration::from_secs(20);

/// The reader of an entry: a worker with one delivery of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder<'a> {
    /// The worker's name.
    pub worker: &'a str,
    /// The number of its delivery.
    pub n: u64,
}

/// The meaning of an entry for the worker that believes to hold its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// The run is still its own, or it ended it itself.
    Mine,
    /// Somebody else has it, or ended it.
    Another,
    /// The entry is older than its own, or gone: a server that lags behind shows it for a moment,
    /// and a server that lost its disk shows it again and again.
    Behind,
}

impl Holder<'_> {
    /// Returns the meaning of an entry for this holder.
    pub fn sees(&self, entry: Option<&RunEntry>) -> Sight {
        match entry {
            Some(entry) if entry.n() == self.n && entry.worker() == self.worker => match entry {
                RunEntry::Released(_) => Sight::Another,
                RunEntry::Running(_) | RunEntry::Ended(_) => Sight::Mine,
            },
            // An entry that ends a run which nobody had taken has no number of a delivery.
            Some(RunEntry::Ended(_)) => Sight::Another,
            Some(entry) if entry.n() >= self.n => Sight::Another,
            Some(_) | None => Sight::Behind,
        }
    }
}

/// The looks of a holder at its entry, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Looks {
    behind: u32,
}

/// The number of looks in a row that may find an older entry, or none.
const BEHIND_AT_MOST: u32 = 1;

impl Looks {
    /// Notes a look, and returns whether the run is lost to its holder.
    pub fn is_fenced(&mut self, sight: Sight) -> bool {
        match sight {
            Sight::Mine => {
                self.behind = 0;
                false
            }
            Sight::Another => true,
            Sight::Behind => {
                self.behind += 1;
                self.behind > BEHIND_AT_MOST
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sight::{Another, Behind, Mine};
    use super::*;
    use crate::wire::{Ended, Released, Running};

    const ME: Holder<'_> = Holder { worker: "me", n: 3 };

    fn running(worker: &str, n: u64) -> RunEntry {
        RunEntry::Running(Running {
            worker: worker.to_owned(),
            n,
            since: String::new(),
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
    fn a_run_is_mine_while_its_entry_has_my_name_and_my_delivery() {
        let released = RunEntry::Released(Released {
            n: 3,
            worker: "me".to_owned(),
            attempt: 1,
            ..Released::default()
        });
        let sights = [
            ME.sees(Some(&running("me", 3))),
            ME.sees(Some(&ended("me", 3))),
            ME.sees(Some(&running("me", 4))),
            ME.sees(Some(&running("other", 3))),
            ME.sees(Some(&running("other", 2))),
            ME.sees(Some(&ended("other", 4))),
            ME.sees(Some(&ended("a caller", 0))),
            ME.sees(Some(&released)),
            ME.sees(None),
        ];
        let expected = [
            Mine, Mine, Another, Another, Behind, Another, Another, Another, Behind,
        ];
        assert_eq!(sights, expected);
    }

    #[test]
    fn one_look_that_lags_behind_fences_nobody_and_two_in_a_row_do() {
        let fenced = |sights: &[Sight]| {
            let mut looks = Looks::default();
            sights.iter().any(|&sight| looks.is_fenced(sight))
        };
        assert!(!fenced(&[
            Sight::Behind,
            Sight::Mine,
            Sight::Behind,
            Sight::Mine
        ]));
        assert!(fenced(&[Sight::Mine, Sight::Behind, Sight::Behind]));
        assert!(fenced(&[Sight::Mine, Sight::Another]));
    }

    #[test]
    fn a_third_of_the_lease_is_left_for_stopping_the_child() {
        let lease = Lease {
            length: Duration::from_mins(1),
        };
        let seconds = [lease.beat(), lease.self_stop()].map(|time| time.as_secs());
        assert_eq!(seconds, [10, 40]);
        assert!(!lease.is_over(Duration::from_millis(39_999)));
        assert!(lease.is_over(Duration::from_secs(40)));
    }
}
