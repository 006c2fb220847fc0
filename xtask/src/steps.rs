//! The test command: steps that are announced, timed, and stop at the first failure.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::machine::{cargo, target};
use crate::{faults, mcp_client, real_pi, typescript};

/// One call of cargo.
pub(crate) struct Step {
    name: &'static str,
    arguments: Vec<String>,
}

impl Step {
    fn new(name: &'static str, arguments: &str) -> Self {
        Self {
            name,
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// What a change must pass before any test of it runs.
    pub(crate) fn checks() -> [Self; 5] {
        [
            Self::format(),
            Self::clippy(),
            Self::documentation(),
            Self::build(),
            Self::tidy(),
        ]
    }

    /// Nothing is formatted otherwise.
    fn format() -> Self {
        Self::new("format", "fmt --all --check")
    }

    /// No warning is left.
    fn clippy() -> Self {
        let arguments = "clippy --workspace --all-targets --locked -- -D warnings";
        Self::new("clippy", arguments)
    }

    /// Every page of the documentation is whole; its lints are denied in `Cargo.toml`.
    fn documentation() -> Self {
        Self::new("documentation", "doc --workspace --no-deps --locked")
    }

    /// The tests of one crate use the binaries of another, so all are built before any test runs.
    /// With all targets, because `--bins` alone has fewer features (those of dev-dependencies are
    /// missing) and would compile half of the dependencies a second time.
    pub(crate) fn build() -> Self {
        Self::new("build", "build --workspace --all-targets --locked")
    }

    /// The rules of `tests/tidy`.
    fn tidy() -> Self {
        Self::new("tidy", "test --quiet --package xtask --test tidy --locked")
    }

    /// Every test whose name fits the filter.
    fn tests(filter: &[String]) -> Self {
        let mut step = Self::new("tests", "test --workspace --locked");
        step.arguments.extend_from_slice(filter);
        step
    }
}

/// Runs everything a change must pass.
pub(crate) fn test(filter: &[String]) -> Outcome<()> {
    let begun = Instant::now();
    let was_cold = !target()?.join("debug/pi-subagents").exists();
    run(&Step::checks())?;
    typescript::check(&real_pi::install_all()?)?;
    mcp_client::install()?;
    run(&[Step::tests(filter)])?;
    if filter.is_empty() {
        faults::short()?;
    }
    let from = if was_cold { "a cold" } else { "a warm" };
    println!(
        "xtask test PASSED in {} from {from} build",
        seconds(begun.elapsed())
    );
    if !is_root() {
        println!("xtask test: the tests with another user were NOT RUN, because they need root");
    }
    Ok(())
}

/// Returns whether directories can be given to other users.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // A process belongs to the user it runs as.
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Runs steps until one fails.
pub(crate) fn run(steps: &[Step]) -> Outcome<()> {
    for (number, step) in steps.iter().enumerate() {
        let command = format!("cargo {}", step.arguments.join(" "));
        println!(
            "xtask: {}/{} {}: {command}",
            number + 1,
            steps.len(),
            step.name
        );
        let begun = Instant::now();
        let status = cargo().args(&step.arguments).status()?;
        let took = seconds(begun.elapsed());
        if !status.success() {
            return Err(format!("{} ({status}) after {took}: {command}", step.name).into());
        }
        println!(
            "xtask: {}/{} {} passed in {took}",
            number + 1,
            steps.len(),
            step.name
        );
    }
    Ok(())
}

pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
