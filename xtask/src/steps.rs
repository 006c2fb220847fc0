//! The test command: steps that are announced, timed, and stop at the first failure.

use std::ffi::OsString;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::machine::{cargo, target};
use crate::process_tree::kill_tree;
use crate::{
    browser, faults, git, mcp_client, mcp_servers, nats, packages, real_pi, typescript, weight,
};

/// The longest time a step may take. On two cores a cold build takes six minutes and all tests take
/// four, so a step that takes longer hangs.
const LONGEST_STEP: Duration = Duration::from_mins(30);

/// The pause between two looks at a running step.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// One call of cargo.
pub(crate) struct Step {
    name: &'static str,
    arguments: Vec<String>,
    /// The PATH of its programs, if that is not ours.
    path: Option<OsString>,
}

impl Step {
    fn new(name: &'static str, arguments: &str) -> Self {
        Self {
            name,
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            path: None,
        }
    }

    /// Returns the steps that a change must pass before any test of it runs.
    pub(crate) fn checks() -> [Self; 5] {
        [
            Self::format(),
            Self::clippy(),
            Self::documentation(),
            Self::build(),
            Self::tidy(),
        ]
    }

    /// Checks that everything is formatted.
    fn format() -> Self {
        Self::new("format", "fmt --all --check")
    }

    /// Checks that no warning is left.
    fn clippy() -> Self {
        let arguments = "clippy --workspace --all-targets --locked -- -D warnings";
        Self::new("clippy", arguments)
    }

    /// Builds the documentation, which fails on a broken page: its lints are denied in
    /// `Cargo.toml`.
    fn documentation() -> Self {
        Self::new("documentation", "doc --workspace --no-deps --locked")
    }

    /// Builds everything before any test runs, because the tests of one crate use the binaries of
    /// another. It builds all targets, because `--bins` alone has fewer features (those of
    /// dev-dependencies are missing) and would compile half of the dependencies a second time.
    pub(crate) fn build() -> Self {
        Self::new("build", "build --workspace --all-targets --locked")
    }

    /// Runs the rules of `tests/tidy`.
    fn tidy() -> Self {
        Self::new("tidy", "test --quiet --package xtask --test tidy --locked")
    }

    /// Runs every test whose name fits the filter.
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
    let path = git::require()?;
    run(&Step::checks())?;
    typescript::check(&real_pi::install_all()?)?;
    mcp_client::install()?;
    mcp_servers::install()?;
    nats::install()?;
    browser::install()?;
    packages::install_shells()?;
    run(&[Step {
        path: Some(path),
        ..Step::tests(filter)
    }])?;
    if filter.is_empty() {
        weight::compare_built()?;
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

/// Runs steps until a step fails.
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
        let mut cargo = cargo();
        cargo.args(&step.arguments);
        if let Some(path) = &step.path {
            cargo.env("PATH", path);
        }
        let status = wait_within(cargo.spawn()?, LONGEST_STEP)
            .map_err(|error| format!("{}: {error}: {command}", step.name))?;
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

/// Waits for a process, and kills it with everything it started if it takes too long. A test that
/// hangs has been named by then: the test program prints the name of each test that runs for more
/// than a minute.
pub(crate) fn wait_within(mut process: Child, limit: Duration) -> Outcome<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() >= limit {
            kill_tree(process.id());
            process.wait()?;
            let limit = seconds(limit);
            return Err(format!("killed after {limit}; see above which test is running").into());
        }
        sleep(LOOK_AGAIN);
    }
}

pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::program;
    use crate::process_tree::tree;

    #[test]
    fn a_step_that_hangs_is_killed_with_what_it_started() {
        let mut shell = program("sh");
        let process = shell.args(["-c", "sleep 1000 & wait"]).spawn().unwrap();
        let root = process.id();
        while tree(root).len() < 2 {
            sleep(LOOK_AGAIN);
        }
        let started = tree(root)[1];
        let error = wait_within(process, Duration::ZERO).unwrap_err();
        assert!(error.to_string().starts_with("killed after"), "{error}");
        let is_gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{started}/stat"));
            stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
        };
        let is_seen_gone = (0..200).any(|_| {
            sleep(LOOK_AGAIN);
            is_gone()
        });
        assert!(is_seen_gone, "{started} is still there");
    }
}
