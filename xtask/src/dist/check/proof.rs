//! The proof that a program was installed: its version, the tour, and one delegation.

use std::path::Path;
use std::time::Instant;

use super::home::{Home, output};
use super::{Checked, Shipment};
use crate::Outcome;
use crate::steps::seconds;

/// The number of starts that are measured.
const STARTS: u32 = 10;

/// One turn of a model.
const SCRIPT: &str = r#"{"rules": [{"turns": [{"text": "Hello from the script."}]}]}"#;

/// The tour that is played.
#[derive(Clone, Copy)]
pub(super) enum Tour {
    /// The tour with worktrees, which needs a recent git.
    MainJob,
    /// The tour through the current directory.
    Here,
}

impl Tour {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::MainJob => &["tour"],
            Self::Here => &["tour", "--here"],
        }
    }
}

/// Works with an installed program.
pub(super) fn prove(shipment: &Shipment, home: &Home, program: &Path) -> Outcome<Checked> {
    prove_with(shipment, home, program, Tour::MainJob)
}

/// Works with an installed program and plays one of the tours.
pub(super) fn prove_with(
    shipment: &Shipment,
    home: &Home,
    program: &Path,
    played: Tour,
) -> Outcome<Checked> {
    let start = version(shipment, home, program)?;
    let tour = Instant::now();
    output(home.command(program).args(played.arguments()))?;
    let tour = seconds(tour.elapsed());
    delegate(home, program)?;
    Ok(Checked::Works(format!(
        "starts in {start}, tour in {tour}, one delegation"
    )))
}

/// Compares the version, and returns how long a start takes.
fn version(shipment: &Shipment, home: &Home, program: &Path) -> Outcome<String> {
    let begun = Instant::now();
    for _ in 0..STARTS {
        let printed = output(home.command(program).arg("--version"))?;
        let wanted = format!("pi-subagents {}", shipment.release.version);
        if printed.trim() != wanted {
            return Err(format!("--version printed {printed:?} instead of {wanted:?}").into());
        }
    }
    let start = begun.elapsed() / STARTS;
    Ok(format!("{:.1} ms", start.as_secs_f64() * 1000.0))
}

fn delegate(home: &Home, program: &Path) -> Outcome<()> {
    let script = home.write("script.json", SCRIPT)?;
    let model = format!("scripted/{}", script.display());
    let answer = output(home.command(program).args([
        "delegate", "--quiet", "--task", "a=hi", "--runner", "embedded", "--model", &model,
    ]))?;
    if answer.contains("Hello from the script.") {
        return Ok(());
    }
    Err(format!("the delegation answered {answer:?}").into())
}
