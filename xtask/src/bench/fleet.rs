//! Measures the cost of a fleet. The measuring is a program of its own, because it speaks to
//! servers.

use crate::Outcome;
use crate::machine::{program, target};
use crate::nats;

/// Fetches the server, and measures.
pub(super) fn measure() -> Outcome<()> {
    nats::install()?;
    super::build("build --release --locked --package pi-subagents-fleet --example fleet_bench")?;
    println!();
    let measuring = target()?.join("release/examples/fleet_bench");
    let status = program(measuring).status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("fleet_bench ({status})").into())
}
