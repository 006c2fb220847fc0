//! Checks the TypeScript of `extension/` against the types of the real pi, and the modules of the
//! web page, whose types are in their comments.

use std::time::Instant;

use crate::Outcome;
use crate::machine::{program, root, target};
use crate::npm;
use crate::real_pi::RealPi;
use crate::steps::seconds;

const COMPILER: &str = "typescript@7.0.2";
const TYPES_OF_NODE: &str = "@types/node@24.19.2";

/// The projects that are checked.
const PROJECTS: [&str; 2] = ["extension", "crates/web/assets/jsconfig.json"];

/// Checks the types, with a compiler that is installed unless it is there already.
pub(crate) fn check(pi: &RealPi) -> Outcome<()> {
    let begun = Instant::now();
    let directory = target()?.join("typescript");
    let compiler = directory.join("node_modules/.bin/tsc");
    if !compiler.exists() {
        npm::install(&directory, &[COMPILER, TYPES_OF_NODE])?;
    }
    for project in PROJECTS {
        println!("xtask: types: tsc --project {project}");
        let status = program(pi.node.join("node"))
            .arg(&compiler)
            .args(["--project", project])
            .current_dir(root())
            .status()?;
        if !status.success() {
            let took = seconds(begun.elapsed());
            return Err(format!("types ({status}) after {took}: tsc --project {project}").into());
        }
    }
    let took = seconds(begun.elapsed());
    println!("xtask: types passed in {took}");
    Ok(())
}
