//! Measures our cost. Nothing is asserted: figures of one run are compared with each other, and the
//! budgets beside them are ratios.

mod background;
mod crowd;
mod figures;
mod first_request;
mod fleet;
mod goals;
mod https;
mod installed_package;
mod one_turn;
mod page;
mod past_runs;
mod pi;
mod processes;
mod receipts;
mod records;
mod review;
mod sandbox;
mod scripted_server;
mod stage;
mod stream;
mod updates;
mod worktrees;

use std::fs;
use std::path::PathBuf;

use crate::Outcome;
use crate::machine::cargo;
use crate::release_build;

/// The names of all measurements, as a person types them.
const MEASURES: [&str; 17] = [
    "goals",
    "one-turn",
    "sandbox",
    "https",
    "receipts",
    "stream",
    "updates",
    "crowd",
    "background",
    "past-runs",
    "records",
    "fleet",
    "page",
    "worktrees",
    "review",
    "delegating",
    "installed",
];

/// The arguments of the benchmark.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// Install pi to compare with, if there is none.
    install_pi: bool,
    /// Also the measurements that take long.
    full: bool,
    /// A built program that is measured in place of the one that would be built.
    program: Option<PathBuf>,
    /// A program with which the goals are compared.
    beside: Option<PathBuf>,
    /// Only these measurements; all if no name is given.
    only: Vec<String>,
}

impl Wishes {
    pub(crate) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut wishes = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut file = || {
                arguments
                    .next()
                    .map(PathBuf::from)
                    .ok_or("a file is missing")
            };
            match argument.as_str() {
                "--program" => wishes.program = Some(file()?),
                "--beside" => wishes.beside = Some(file()?),
                "--pi" => wishes.install_pi = true,
                "--full" => wishes.full = true,
                name if MEASURES.contains(&name) => wishes.only.push(name.to_owned()),
                other => {
                    let names = MEASURES.join(", ");
                    let error = format!(
                        "bench takes --pi, --full, --program FILE, --beside FILE and {names}, not {other}"
                    );
                    return Err(error.into());
                }
            }
        }
        Ok(wishes)
    }

    fn want(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }
}

/// Builds the program as it is shipped, and measures it.
#[expect(clippy::needless_pass_by_value, reason = "they are used up here")]
pub(crate) fn bench(wishes: Wishes) -> Outcome<()> {
    match &wishes.program {
        Some(program) => stage::choose(fs::canonicalize(program)?)?,
        None => {
            release_build::build()?;
        }
    }
    // The page is measured with a browser alone.
    if MEASURES
        .iter()
        .any(|name| *name != "page" && wishes.want(name))
    {
        build("build --profile dist --locked --package pi-subagents-testkit --bins")?;
    }
    if wishes.want("receipts") {
        build(
            "build --profile dist --locked --package pi-subagents-records --example receipt_time",
        )?;
    }
    let pi = pi::find(wishes.install_pi)?;
    let crowds: &[usize] = if wishes.full {
        &[16, 200, 1000, 5000]
    } else {
        &[16, 200]
    };
    for name in MEASURES.into_iter().filter(|name| wishes.want(name)) {
        match (name, &pi) {
            ("goals", pi) => goals::measure(wishes.beside.as_deref(), pi.as_ref())?,
            ("one-turn", _) => one_turn::measure()?,
            ("sandbox", pi) => sandbox::measure(pi.as_ref())?,
            ("https", _) => https::measure()?,
            ("receipts", _) => receipts::measure()?,
            ("stream", _) => stream::measure()?,
            ("updates", _) => updates::measure()?,
            ("crowd", _) => crowd::measure(crowds)?,
            ("background", _) => background::measure()?,
            ("past-runs", _) => past_runs::measure()?,
            ("records", _) => records::measure(wishes.full)?,
            ("fleet", _) => fleet::measure()?,
            ("page", _) => page::measure()?,
            ("worktrees", _) => worktrees::measure()?,
            ("review", _) => review::measure()?,
            ("delegating", Some(pi)) => pi::compare(pi)?,
            (_, Some(pi)) => installed_package::measure(pi)?,
            (_, None) => println!(
                "\n{name}: no pi to compare with; put it on PATH, set PI_SUBAGENTS_PI, or add --pi."
            ),
        }
    }
    Ok(())
}

/// Builds with the settings of what is shipped. The testkit is built apart, so that it adds no features to the users' build.
fn build(arguments: &str) -> Outcome<()> {
    println!("xtask: cargo {arguments}");
    let status = cargo().args(arguments.split(' ')).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo {arguments} ({status})").into())
    }
}
