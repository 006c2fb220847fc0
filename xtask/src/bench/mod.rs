//! What we cost, measured. Nothing is asserted: figures of one run are compared with each other,
//! and the budgets beside them are ratios.

mod background;
mod crowd;
mod figures;
mod installed;
mod one_turn;
mod past_runs;
mod pi;
mod processes;
mod stage;
mod stream;
mod updates;

use crate::Outcome;
use crate::machine::cargo;

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// Install pi to compare with, if there is none.
    install_pi: bool,
    /// Also what takes long.
    full: bool,
}

impl Wishes {
    pub(crate) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut wishes = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--pi" => wishes.install_pi = true,
                "--full" => wishes.full = true,
                other => return Err(format!("bench takes --pi and --full, not {other}").into()),
            }
        }
        Ok(wishes)
    }
}

/// Builds what users build, and measures it.
#[expect(clippy::needless_pass_by_value, reason = "they are used up here")]
pub(crate) fn bench(wishes: Wishes) -> Outcome<()> {
    build("build --release --locked")?;
    build("build --release --locked --package pi-subagents-testkit --bins")?;
    let pi = pi::find(wishes.install_pi)?;
    one_turn::measure()?;
    stream::measure()?;
    updates::measure()?;
    crowd::measure(if wishes.full {
        &[16, 200, 1000]
    } else {
        &[16, 200]
    })?;
    background::measure()?;
    past_runs::measure()?;
    if let Some(pi) = pi {
        pi::compare(&pi)?;
        return installed::measure(&pi);
    }
    println!("\nNo pi to compare with: put it on PATH, set PI_SUBAGENTS_PI, or add --pi.");
    Ok(())
}

/// The testkit is built apart, so that it adds no features to what users build.
fn build(arguments: &str) -> Outcome<()> {
    println!("xtask: cargo {arguments}");
    let status = cargo().args(arguments.split(' ')).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo {arguments} ({status})").into())
    }
}
