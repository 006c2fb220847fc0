//! Measures what the receipt of a recorded run costs: `receipt_time RUN_DIRECTORY` prints the
//! nanoseconds of one fold over all its events, the best of many. `cargo xtask bench` calls it.

use std::env;
use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};

use pi_subagents_records::{RunDir, read_events};
use pi_subagents_vocabulary::{RunEvent, Witness};

const ROUNDS: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args_os()
        .nth(1)
        .ok_or("usage: receipt_time RUN_DIRECTORY")?;
    let mut events: Vec<RunEvent> = Vec::new();
    read_events(&RunDir::new(directory), |event| events.push(event.clone()))?;
    let best = (0..ROUNDS).map(|_| fold(&events)).min().unwrap_or_default();
    writeln!(std::io::stdout(), "{}", best.as_nanos())?;
    Ok(())
}

fn fold(events: &[RunEvent]) -> Duration {
    let begun = Instant::now();
    let mut witness = Witness::default();
    for event in events {
        witness.apply(event);
    }
    std::hint::black_box(witness.receipt());
    begun.elapsed()
}
