//! The arguments of the program.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) const USAGE: &str = "\
usage: cargo xtask faults [--seed N] [--count N] [--only N] [--at-a-time N]
                          [--hang-limit SECONDS] [--pi] [--talk]

  --seed N          decides everything that is random; a new one if left out
  --count N         how many rounds, with one or two faults each (25 if left out)
  --only N          plays this round alone
  --at-a-time N     how many rounds are played at once (3 if left out)
  --hang-limit S    what takes longer than S seconds has failed (10 if left out)
  --pi              also rounds with the real pi as parent and as child, which are slow
  --talk            says what each round is";

/// The most rounds that are played at once: each starts dozens of processes.
const AT_A_TIME: u64 = 8;

/// The arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wishes {
    pub(crate) seed: u64,
    count: u64,
    only: Option<u64>,
    pub(crate) at_a_time: u64,
    pub(crate) hang_limit: Duration,
    pub(crate) scope: Scope,
    pub(crate) is_talkative: bool,
}

/// The parts that a round may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The parts that start in milliseconds.
    Quick,
    /// The real pi too.
    WithPi,
}

impl Wishes {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut wishes = Self {
            seed: fresh_seed(),
            count: 25,
            only: None,
            at_a_time: 3,
            hang_limit: Duration::from_secs(10),
            scope: Scope::Quick,
            is_talkative: false,
        };
        while let Some(name) = arguments.next() {
            let mut number = || -> Result<u64, String> {
                let value = arguments.next().unwrap_or_default();
                value
                    .parse()
                    .map_err(|_| format!("{name} takes a number, not `{value}`"))
            };
            match name.as_str() {
                "--seed" => wishes.seed = number()?,
                "--count" => wishes.count = number()?,
                "--only" => wishes.only = Some(number()?),
                "--at-a-time" => wishes.at_a_time = number()?.clamp(1, AT_A_TIME),
                "--hang-limit" => wishes.hang_limit = Duration::from_secs(number()?),
                "--pi" => wishes.scope = Scope::WithPi,
                "--talk" => wishes.is_talkative = true,
                _ => return Err(format!("there is no argument {name}")),
            }
        }
        Ok(wishes)
    }

    /// Returns whether the sandbox of a failed round is kept, so that a person can look at it.
    pub(crate) fn keeps_sandboxes(&self) -> bool {
        self.only.is_some()
    }

    /// Returns the numbers of the rounds to be played.
    pub(crate) fn rounds(&self) -> Range<u64> {
        match self.only {
            Some(only) => only..only + 1,
            None => 1..self.count + 1,
        }
    }
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| u64::from(now.subsec_nanos()))
}
