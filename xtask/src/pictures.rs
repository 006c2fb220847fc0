//! Makes the pictures of the README anew: the tests that compare them write them instead.

use crate::Outcome;
use crate::browser;
use crate::machine::cargo;
use crate::real_pi;
use crate::steps::{self, Step};

/// Builds the programs and writes all pictures.
pub(crate) fn write_all() -> Outcome<()> {
    steps::run(&[Step::build()])?;
    real_pi::install()?;
    browser::install()?;
    let status = cargo()
        .args("test --package pi-subagents --test it --locked -- pictures::".split(' '))
        .env("UPDATE_PICTURES", "1")
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("a picture could not be made ({status})").into())
    }
}
