//! Many runs on two workers of three servers, while workers, followers and the leader of the
//! servers are killed, orders are purged, entries are spoilt and all servers are away, at moments that
//! a seed decides. Every run ends exactly once, none is lost, finished work is not done again, and the
//! end of a run is reported once, also by the follower that replaces a killed one.
//!
//! The test command plays a short round. `cargo xtask faults fleet [--seed N] [--runs N]` plays the
//! whole one.

mod census;
mod ground;
mod strikes;

use std::time::{Duration, Instant};

use pi_subagents_testkit::Chance;
use pretty_assertions::assert_eq;

use census::{Census, Expected};
use ground::Ground;
use strikes::strikes;

/// The seed and the number of runs of the short round.
const SHORT: (u64, usize) = (12, 24);

/// The seconds for which all servers are away in the short round.
const AWAY: u64 = 3;

/// Returns a number that `cargo xtask faults fleet` has set.
fn wished(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn whatever_is_killed_every_run_ends_once_and_none_is_lost() {
    let seed = wished("FLEET_FAULTS_SEED").unwrap_or(SHORT.0);
    let runs = wished("FLEET_FAULTS_RUNS").map_or(SHORT.1, |runs| usize::try_from(runs).unwrap());
    println!("seed {seed}: {runs} runs");
    let begun = Instant::now();
    let mut chance = Chance::of_round(seed, 1);
    let mut ground = Ground::start();
    ground.give(runs, &mut chance);
    println!("{:>6.1} s  all are queued", begun.elapsed().as_secs_f32());
    ground.start_workers();
    let away = Duration::from_secs(wished("FLEET_FAULTS_AWAY").unwrap_or(AWAY));
    for strike in strikes(runs, &mut chance) {
        ground.wait_until_ended(strike.after);
        let said = ground.strike(strike.victim, away);
        println!("{:>6.1} s  {said}", begun.elapsed().as_secs_f32());
    }
    let answers = ground.wait_for_answers(runs);
    let taken_over = ground.wait_for_takers();
    let census = Census::take(&ground, &answers, &taken_over);
    println!("\n{}", census.figures(seed, begun.elapsed()));
    assert_eq!(census.found(), Expected::of(runs), "seed {seed}");
}
