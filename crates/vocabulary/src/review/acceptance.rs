//! Which results can be accepted together, by as few runs of a gate as possible.
//!
//! The results that fit on each other make a chain, and the gate looks at its last state. If that is
//! green, all are in with one run. If it is red, a binary search between the last green state and the
//! end of the chain finds the first red one; what lies before it is in, that one is out, and a new
//! chain is made of the rest. The risky ones stand last, so that a red state costs little. Where most
//! are red, one at a time is cheaper.

/// Somebody who puts results on top of each other and runs the gate on what comes of it. Results are
/// named by their places in the order in which they were given.
pub trait Rehearsal {
    /// The reason why it had to stop.
    type Stop;

    /// Returns those of some results that fit, one on top of the other, on what was accepted.
    fn fitting(
        &mut self,
        accepted: &[usize],
        candidates: &[usize],
    ) -> Result<Vec<usize>, Self::Stop>;

    /// Returns whether the gate passes on the state that some results make, on top of each other.
    fn is_green(&mut self, results: &[usize]) -> Result<bool, Self::Stop>;
}

/// The results that were accepted, and the reasons why others were not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Acceptance {
    /// The accepted results, in the order in which they stand on each other.
    pub accepted: Vec<usize>,
    /// The results on which the gate failed.
    pub red: Vec<RedResult>,
    /// The results that do not fit on what was accepted.
    pub unfit: Vec<usize>,
    /// True if the gate fails already without any of the results. Then none was accepted.
    pub is_red_before: bool,
}

/// A result on which the gate failed. The state before it was green.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedResult {
    /// The result.
    pub result: usize,
    /// The accepted results on top of which it was tried.
    pub with: Vec<usize>,
    /// True if the gate passes on it alone; `None` if nobody tried.
    pub is_green_alone: Option<bool>,
}

/// Finds the results that can be accepted.
pub fn accept<R: Rehearsal>(rehearsal: &mut R, order: &[usize]) -> Result<Acceptance, R::Stop> {
    let mut search = Search {
        rehearsal,
        count: order.len(),
        found: Acceptance::default(),
        is_base_green: false,
    };
    search.run(order.to_vec())?;
    search.give_second_chances()?;
    search.try_alone()?;
    Ok(search.found)
}

struct Search<'a, R> {
    rehearsal: &'a mut R,
    count: usize,
    found: Acceptance,
    /// True if the gate is known to pass without any result.
    is_base_green: bool,
}

/// The outcome of gating a chain.
enum Probed {
    AllGreen,
    /// So many are green, and the one after them is red.
    RedAfter(usize),
}

impl<R: Rehearsal> Search<'_, R> {
    fn run(&mut self, mut undecided: Vec<usize>) -> Result<(), R::Stop> {
        while !undecided.is_empty() {
            let mut chain = self.rehearsal.fitting(&self.found.accepted, &undecided)?;
            if chain.is_empty() {
                self.found.unfit = undecided;
                return Ok(());
            }
            if self.is_mostly_red() {
                chain.truncate(1);
            }
            let green = match self.probe(&chain)? {
                Probed::AllGreen => chain.len(),
                Probed::RedAfter(green) => green,
            };
            self.found.accepted.extend(&chain[..green]);
            if let Some(red) = chain.get(green) {
                if !self.is_proven()? {
                    self.found.is_red_before = true;
                    return Ok(());
                }
                self.found.red.push(RedResult {
                    result: *red,
                    with: self.found.accepted.clone(),
                    is_green_alone: None,
                });
            }
            let decided = chain.len().min(green + 1);
            undecided.retain(|one| !chain[..decided].contains(one));
        }
        Ok(())
    }

    /// Gates the end of a chain, and searches the first red state if that is red.
    fn probe(&mut self, chain: &[usize]) -> Result<Probed, R::Stop> {
        if self.is_green_with(chain)? {
            return Ok(Probed::AllGreen);
        }
        let (mut green, mut red) = (0, chain.len());
        while red - green > 1 {
            let middle = green + (red - green) / 2;
            if self.is_green_with(&chain[..middle])? {
                green = middle;
            } else {
                red = middle;
            }
        }
        Ok(Probed::RedAfter(green))
    }

    fn is_green_with(&mut self, more: &[usize]) -> Result<bool, R::Stop> {
        let results = [&self.found.accepted[..], more].concat();
        self.rehearsal.is_green(&results)
    }

    /// Returns whether the state on which the last red result stood was green. What was accepted is
    /// green; the checkout itself is gated when somebody must know.
    fn is_proven(&mut self) -> Result<bool, R::Stop> {
        if !self.found.accepted.is_empty() || self.is_base_green {
            return Ok(true);
        }
        self.is_base_green = self.rehearsal.is_green(&[])?;
        Ok(self.is_base_green)
    }

    /// Returns whether so many were red that a search costs more than to try one after the other.
    fn is_mostly_red(&self) -> bool {
        let depth = self.count.next_power_of_two().trailing_zeros() as usize;
        let reds = self.found.red.len();
        reds > 0 && reds * (1 + depth) >= self.count
    }

    /// Tries each red result once more if others were accepted after it: it may need them.
    fn give_second_chances(&mut self) -> Result<(), R::Stop> {
        if self.found.is_red_before {
            return Ok(());
        }
        for red in std::mem::take(&mut self.found.red) {
            let accepted = &self.found.accepted;
            let is_late = red.with.len() < accepted.len();
            let fits = is_late && !self.rehearsal.fitting(accepted, &[red.result])?.is_empty();
            if fits && self.is_green_with(&[red.result])? {
                self.found.accepted.push(red.result);
            } else {
                self.found.red.push(red);
            }
        }
        Ok(())
    }

    /// Finds out which red results are green alone, so that people know that it is the company.
    fn try_alone(&mut self) -> Result<(), R::Stop> {
        for place in 0..self.found.red.len() {
            let RedResult { result, with, .. } = &self.found.red[place];
            if with.is_empty() {
                continue;
            }
            let alone = [*result];
            if self.rehearsal.fitting(&[], &alone)?.is_empty() {
                continue;
            }
            let is_green = self.rehearsal.is_green(&alone)?;
            self.found.red[place].is_green_alone = Some(is_green);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "acceptance_tests.rs"]
mod tests;
