//! The outcome of all rounds.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::checks::FailureKind;
use crate::play::{Played, Took};
use crate::round::Round;

/// The time for which a person waits without asking what is wrong.
const PATIENCE: Duration = Duration::from_secs(10);

/// The figures of a whole run of the suite.
pub(crate) struct Summary {
    seed: u64,
    begun: Instant,
    rounds: usize,
    failed: Vec<u64>,
    /// Faults whose victim had left before they came.
    missed: usize,
    /// The faults by kind: their number, and the number of failed rounds with them.
    faults: BTreeMap<String, (usize, usize)>,
    /// The scenes by owner, child and tree: their number, and the number of failed rounds with
    /// them.
    scenes: BTreeMap<String, (usize, usize)>,
    kinds: BTreeMap<FailureKind, usize>,
    slowest: Took,
    slow: usize,
}

impl Summary {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            begun: Instant::now(),
            rounds: 0,
            missed: 0,
            failed: Vec::new(),
            faults: BTreeMap::new(),
            scenes: BTreeMap::new(),
            kinds: BTreeMap::new(),
            slowest: Took::default(),
            slow: 0,
        }
    }

    /// Counts a round, and prints it if it failed.
    pub(crate) fn add(&mut self, round: &Round, played: &Played) {
        self.rounds += 1;
        self.missed += round.faults.len() - played.hits.len();
        let has_failed = !played.failures.is_empty();
        for fault in &played.hits {
            count(&mut self.faults, fault.to_string(), has_failed);
        }
        for scene in scenes(round) {
            count(&mut self.scenes, scene, has_failed);
        }
        let took = played.took;
        self.slow += usize::from(took.command.max(took.overdue) > PATIENCE);
        self.slowest.command = self.slowest.command.max(took.command);
        self.slowest.overdue = self.slowest.overdue.max(took.overdue);
        self.slowest.leftovers = self.slowest.leftovers.max(took.leftovers);
        if has_failed {
            self.failed.push(round.number);
            self.print_failure(round, played);
        }
    }

    fn print_failure(&mut self, round: &Round, played: &Played) {
        println!("FAILED round {}: {round}", round.number);
        for failure in &played.failures {
            *self.kinds.entry(failure.kind).or_default() += 1;
            println!("  {failure}");
        }
        println!(
            "  again: cargo xtask faults --seed {} --only {}",
            self.seed, round.number
        );
    }

    pub(crate) fn has_failures(&self) -> bool {
        !self.failed.is_empty()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: usize = self.faults.values().map(|(tried, _)| tried).sum();
        writeln!(
            formatter,
            "\n{:<36} {:>6} {:>7}",
            "fault", "tried", "failed"
        )?;
        for (name, (tried, failed)) in self.faults.iter().chain(&self.scenes) {
            writeln!(formatter, "{name:<36} {tried:>6} {failed:>7}")?;
        }
        writeln!(
            formatter,
            "\nseed {}: {faults} faults in {} rounds ({} more came too late), {} rounds failed, in {:.0} s",
            self.seed,
            self.rounds,
            self.missed,
            self.failed.len(),
            self.begun.elapsed().as_secs_f64()
        )?;
        for kind in FailureKind::ALL {
            let times = self.kinds.get(&kind).copied().unwrap_or_default();
            writeln!(formatter, "{times:>6}  {kind}")?;
        }
        writeln!(
            formatter,
            "slowest command {:.1} s, slowest owner {:.1} s beyond its time, slowest end of a tree {:.1} s after the next command; {} rounds with a wait over 10 s",
            self.slowest.command.as_secs_f64(),
            self.slowest.overdue.as_secs_f64(),
            self.slowest.leftovers.as_secs_f64(),
            self.slow
        )
    }
}

/// Returns the owner, children and trees of a round, without its faults.
fn scenes(round: &Round) -> Vec<String> {
    let mut scenes = vec![format!("owner: {:?}", round.owner)];
    for child in &round.children {
        scenes.push(format!("child: {:?}", child.kind));
        scenes.push(format!("manners: {:?}", child.manners));
        scenes.extend(child.tree.iter().map(|tree| format!("tree: {tree:?}")));
    }
    scenes.sort();
    scenes.dedup();
    scenes
}

fn count(counts: &mut BTreeMap<String, (usize, usize)>, name: String, has_failed: bool) {
    let (tried, failed) = counts.entry(name).or_default();
    *tried += 1;
    *failed += usize::from(has_failed);
}
