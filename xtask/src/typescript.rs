//! The TypeScript of `extension/`, checked against the types of the real pi.

use std::time::Instant;

use crate::Outcome;
use crate::machine::{program, root, target};
use crate::npm;
use crate::real_pi::RealPi;
use crate::steps::seconds;

const COMPILER: &str = "typescript@7.0.2";
const TYPES_OF_NODE: &str = "@types/node@24.19.2";

/// Checks the types, with a compiler that is installed unless it is there already.
pub(crate) fn check(pi: &RealPi) -> Outcome<()> {
    let begun = Instant::now();
    let directory = target()?.join("typescript");
    let compiler = directory.join("node_modules/.bin/tsc");
    if !compiler.exists() {
        npm::install(&directory, &[COMPILER, TYPES_OF_NODE])?;
    }
    println!("xtask: types: tsc --project extension");
    let status = program(pi.node.join("node"))
        .arg(compiler)
        .args(["--project", "extension"])
        .current_dir(root())
        .status()?;
    let took = seconds(begun.elapsed());
    if !status.success() {
        return Err(format!("types ({status}) after {took}: tsc --project extension").into());
    }
    println!("xtask: types passed in {took}");
    Ok(())
}
