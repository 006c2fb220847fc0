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

/// Works with an installed program.
pub(super) fn prove(shipment: &Shipment, home: &Home, program: &Path) -> Outcome<Checked> {
    let start = version(shipment, home, program)?;
    let tour = Instant::now();
    output(home.command(program).arg("tour"))?;
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
