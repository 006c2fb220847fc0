//! The fault suite: builds its programs, and starts it. The suite itself is the program `faults` of
//! the testkit, because it needs more than the standard library.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::Outcome;
use crate::machine::{cargo, program, root, target};
use crate::nats;
use crate::real_pi;
use crate::steps::{self, Step};

/// Builds, then plays as many rounds as the arguments ask for.
pub(crate) fn faults(arguments: &[String]) -> Outcome<()> {
    if let [word, rest @ ..] = arguments
        && word == "fleet"
    {
        return fleet(rest);
    }
    steps::run(&[Step::build()])?;
    if arguments.iter().any(|argument| argument == "--pi") {
        real_pi::install()?;
    }
    play(arguments)
}

/// Plays the short run that is part of the test command, with the programs that are built already.
/// The rounds are always the same, and a busy machine is no defect.
pub(crate) fn short() -> Outcome<()> {
    let arguments = "--seed 12 --count 25 --at-a-time 2 --hang-limit 60";
    println!("xtask: faults {arguments}");
    let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    play(&arguments)
}

/// Plays the round with a fleet: many runs while workers, followers and servers are killed, orders are
/// thrown away, entries are spoilt, and all servers are away. It is a test of the app, with another
/// seed and more runs.
fn fleet(arguments: &[String]) -> Outcome<()> {
    let (mut seed, mut runs, mut away) = (fresh_seed(), 200, 90);
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let value = rest.next().map(String::as_str).unwrap_or_default();
        let number = value
            .parse()
            .map_err(|_| format!("{name} takes a number, not `{value}`"))?;
        match name.as_str() {
            "--seed" => seed = number,
            "--runs" => runs = number,
            "--away" => away = number,
            other => {
                return Err(format!(
                    "faults fleet takes --seed N, --runs N and --away SECONDS, not {other}"
                )
                .into());
            }
        }
    }
    nats::install()?;
    steps::run(&[Step::build()])?;
    let test = "test --locked --package pi-subagents --test it -- --exact --nocapture \
                fleet::chaos::whatever_is_killed_every_run_ends_once_and_none_is_lost";
    let status = cargo()
        .args(test.split_whitespace())
        .env("FLEET_FAULTS_SEED", seed.to_string())
        .env("FLEET_FAULTS_RUNS", runs.to_string())
        .env("FLEET_FAULTS_AWAY", away.to_string())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("promises were broken ({status}); --seed {seed} plays it again").into())
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| u64::from(now.subsec_nanos()))
}

/// Plays rounds with the programs that are built already.
fn play(arguments: &[String]) -> Outcome<()> {
    let status = program(target()?.join("debug/faults"))
        .args(arguments)
        .current_dir(root())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("promises were broken ({status})").into())
    }
}
