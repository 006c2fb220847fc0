//! The victims of the strikes, and their moments.

use pi_subagents_testkit::Chance;

/// A process that is killed, or data that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    /// A worker, which is started again at once.
    Worker(u64),
    /// One of the processes that follow runs: a call, the detached process of a background run, or
    /// whoever waits in the place of one that was killed.
    Follower(u64),
    /// The server that leads the queue. It comes back with the next strike at a server.
    Leader,
    /// All orders in the queue, taken by workers or not.
    Orders,
    /// The entry of a run that a worker has.
    Entry(u64),
    /// All servers, for a while.
    AllServers,
}

/// One strike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strike {
    /// It is made as soon as so many runs have ended.
    pub(super) after: usize,
    pub(super) victim: Victim,
}

/// Draws the strikes of a round: each kind at least once, in the order of their moments.
pub(super) fn strikes(runs: usize, chance: &mut Chance) -> Vec<Strike> {
    let mut victims = vec![
        Victim::Worker(chance.between(0, 1)),
        Victim::Follower(chance.between(0, 1000)),
        Victim::Leader,
        Victim::Orders,
        Victim::Entry(chance.between(0, 1000)),
        Victim::AllServers,
    ];
    while victims.len() < runs / 12 {
        let kind = chance.between(1, 13);
        victims.push(match kind {
            1..=3 => Victim::Worker(chance.between(0, 1)),
            4..=7 => Victim::Follower(chance.between(0, 1000)),
            8..=10 => Victim::Leader,
            11 => Victim::Orders,
            _ => Victim::Entry(chance.between(0, 1000)),
        });
    }
    let moment = |victim| {
        // Followers end with their runs, so there are fewer and fewer of them.
        let last = match victim {
            Victim::Follower(_) => runs / 2,
            Victim::Worker(_)
            | Victim::Leader
            | Victim::Orders
            | Victim::Entry(_)
            | Victim::AllServers => runs * 9 / 10,
        };
        let after = chance.between(0, u64::try_from(last).unwrap());
        Strike {
            after: usize::try_from(after).unwrap(),
            victim,
        }
    };
    let mut strikes: Vec<Strike> = victims.into_iter().map(moment).collect();
    strikes.sort_by_key(|strike| strike.after);
    strikes
}
