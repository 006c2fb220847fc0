//! What runs on a machine, and whether one more child fits.

use serde::{Deserialize, Serialize};

use super::RoomShortage;
use crate::Runner;

/// The megabytes that stay free for everything that is not ours.
pub(super) const RESERVE: u64 = 200;

/// The milliseconds after which a child has taken the memory that it needs at first, so that the
/// free memory shows it.
const SETTLED: u64 = 5_000;

/// The number of pi processes and agents of others for each processor. Most of them wait for a model.
const PER_PROCESSOR: usize = 8;

/// A child for which an owner has claimed room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedChild {
    /// The kind of child.
    pub runner: Runner,
    /// The time of the claim, in milliseconds since 1970.
    pub since: u64,
}

/// A machine at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineLoad {
    /// The megabytes that programs can still take; `None` if the system does not say.
    pub free_memory: Option<u64>,
    /// The number of processors.
    pub processors: usize,
    /// The most children at once that the user has set for the machine.
    pub most: Option<usize>,
    /// The number of children that the asking owner may have at once.
    pub own_limit: usize,
    /// The children of all owners.
    pub children: Vec<ClaimedChild>,
    /// The present time, in milliseconds since 1970.
    pub now: u64,
}

impl MachineLoad {
    /// Returns why there is no room for one more child. A machine without children has room for one,
    /// whatever it looks like: waiting would not help.
    pub fn shortage(&self, runner: Runner) -> Option<RoomShortage> {
        if self.children.is_empty() {
            return None;
        }
        if let Some(most) = self.most.filter(|most| self.children.len() >= *most) {
            return Some(RoomShortage::Setting { most });
        }
        self.no_memory(runner).or_else(|| self.no_processor(runner))
    }

    /// Returns why a child must not be started that nobody waits for yet: the machine must have room
    /// for another one beside it.
    pub fn shortage_beside_spare(mut self, runner: Runner) -> Option<RoomShortage> {
        let since = self.now;
        self.children.push(ClaimedChild { runner, since });
        self.shortage(runner)
    }

    fn no_memory(&self, runner: Runner) -> Option<RoomShortage> {
        let is_new = |child: &&ClaimedChild| self.now.saturating_sub(child.since) < SETTLED;
        let new = self.children.iter().filter(is_new);
        let promised: u64 = new.map(|child| child.runner.memory()).sum();
        let free = self.free_memory?.saturating_sub(promised);
        let needed = runner.memory();
        (free < needed.saturating_add(RESERVE)).then_some(RoomShortage::Memory {
            runner,
            needed,
            free,
        })
    }

    fn no_processor(&self, runner: Runner) -> Option<RoomShortage> {
        if !runner.is_heavy() {
            return None;
        }
        let heavy = self.children.iter().filter(|child| child.runner.is_heavy());
        let running = heavy.count();
        let processors = self.processors.max(1);
        // Who asks for more than the machine is thought to bear gets it, as far as memory goes.
        let places = processors.saturating_mul(PER_PROCESSOR).max(self.own_limit);
        (running >= places).then_some(RoomShortage::Processors {
            running,
            processors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OtherAgent;

    /// Reads `pi*3 embedded@new`: three settled pis and a new embedded agent.
    fn children(words: &str) -> Vec<ClaimedChild> {
        let each = words.split_whitespace().flat_map(|word| {
            let (word, since) = match word.split_once('@') {
                Some((word, _)) => (word, 99_000),
                None => (word, 0),
            };
            let (name, count) = word.split_once('*').unwrap_or((word, "1"));
            let runner = Runner::from_word(name).unwrap();
            std::iter::repeat_n(ClaimedChild { runner, since }, count.parse().unwrap())
        });
        each.collect()
    }

    #[test]
    fn a_child_waits_for_memory_for_processors_or_for_the_setting() {
        type Row<'a> = (&'a str, Runner, Option<u64>, Option<usize>, usize);
        let (pi, embedded) = (Runner::Pi, Runner::Embedded);
        let table: [Row<'_>; 17] = [
            ("", pi, Some(0), Some(1), 4),
            ("embedded", pi, Some(319), None, 4),
            ("embedded", pi, Some(320), None, 4),
            ("embedded", embedded, Some(215), None, 4),
            ("embedded", embedded, Some(216), None, 4),
            (
                "embedded",
                Runner::Bridge(OtherAgent::Claude),
                Some(449),
                None,
                4,
            ),
            ("embedded", pi, None, None, 4),
            ("pi@new", pi, Some(439), None, 4),
            ("pi@new", pi, Some(440), None, 4),
            ("pi*2 embedded*7", pi, Some(320), None, 4),
            ("pi*15 embedded*90", pi, Some(9_000), None, 4),
            ("pi*15 claude", pi, Some(9_000), None, 4),
            ("pi*16", embedded, Some(9_000), None, 4),
            ("pi*16", pi, Some(9_000), None, 17),
            ("pi*16 embedded*400", embedded, Some(9_000), None, 4),
            ("pi embedded", embedded, Some(9_000), Some(3), 16),
            ("pi embedded*2", embedded, Some(9_000), Some(3), 16),
        ];
        let lines = table.map(|(running, runner, free_memory, most, own_limit)| {
            let load = MachineLoad {
                free_memory,
                processors: 2,
                most,
                own_limit,
                children: children(running),
                now: 100_000,
            };
            let found = load.shortage(runner);
            let found = found.map_or("fits".to_owned(), |shortage| shortage.to_string());
            let free = free_memory.map_or("?".to_owned(), |free| free.to_string());
            format!("{running:18} + {:8} {free:>4} MB: {found}", runner.as_str())
        });
        insta::assert_snapshot!(lines.join("\n"));
    }
}
