//! The fault suite: owners of every kind, children and trees that misbehave, and faults at random
//! moments that a seed decides. After each round no process may live, every run has one ending,
//! every word of the children is in the record, and the next command works. See
//! `docs/design/reliability.md`; `cargo xtask faults` builds what it needs and starts it.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "telling what was found is what this program is for"
)]
#![expect(
    clippy::expect_used,
    reason = "a round whose parts fail is told as a failure of the suite itself"
)]

mod arguments;
mod census;
mod checks;
mod children;
mod draw;
mod names;
mod owner;
mod play;
mod record;
mod repository;
mod round;
mod stage;
mod strike;
mod summary;
mod terminal;
mod victims;
mod words;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arguments::Wishes;
use crate::play::Played;
use crate::round::Round;
use crate::summary::Summary;

fn main() -> ExitCode {
    let wishes = match Wishes::parse(std::env::args().skip(1)) {
        Ok(wishes) => wishes,
        Err(problem) => {
            eprintln!("faults: {problem}\n\n{}", arguments::USAGE);
            return ExitCode::from(2);
        }
    };
    println!(
        "faults: seed {}, {} rounds, {} at a time, hang limit {} s",
        wishes.seed,
        wishes.rounds().count(),
        wishes.at_a_time,
        wishes.hang_limit.as_secs()
    );
    let summary = play_all(&wishes);
    print!("{summary}");
    if summary.has_failures() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Plays all rounds, a few at a time, and prints each failure as it comes.
fn play_all(wishes: &Wishes) -> Summary {
    let rounds: Vec<u64> = wishes.rounds().collect();
    let next = AtomicU64::new(0);
    let summary = Mutex::new(Summary::new(wishes.seed));
    let work = || {
        while let Some(number) = take(&rounds, &next) {
            let round = Round::draw(wishes.seed, number, wishes.scope);
            if wishes.is_talkative {
                println!("round {number}: {round}");
            }
            let played = Played::of(&round, wishes);
            let mut summary = summary
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            summary.add(&round, &played);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..wishes.at_a_time {
            scope.spawn(work);
        }
    });
    summary
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn take(rounds: &[u64], next: &AtomicU64) -> Option<u64> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    rounds.get(usize::try_from(place).ok()?).copied()
}
