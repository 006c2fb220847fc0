//! Writes the built-in catalogue of models. The facts come from the newest package of pi that holds
//! them as data; the program `catalogue` of the testkit translates them.

use std::fs;

use crate::Outcome;
use crate::machine::{cargo, program, root, target};
use crate::npm;
use crate::real_pi::unpack;

const PACKAGE: &str = "@earendil-works/pi-ai";

/// The catalogue that the embedded agent is built with.
const CATALOGUE: &str = "crates/agent/src/models/catalogue.jsonl";

/// Fetches the facts and writes the catalogue.
pub(crate) fn write() -> Outcome<()> {
    let directory = target()?.join("pi-ai");
    // `npm pack` alone may fetch an older version, which the Node of this machine can run.
    let version = npm::newest_version(PACKAGE)?;
    let archive = npm::pack(&directory, &format!("{PACKAGE}@{version}"))?;
    unpack(&archive, &directory)?;
    let output = cargo()
        .args([
            "run",
            "--quiet",
            "--locked",
            "--package",
            "pi-subagents-testkit",
        ])
        .args(["--bin", "catalogue", "--"])
        .arg(directory.join("package"))
        .arg(today()?)
        .output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("catalogue ({}): {why}", output.status).into());
    }
    fs::write(root().join(CATALOGUE), &output.stdout)?;
    println!("xtask: wrote {CATALOGUE} from {PACKAGE} {version}");
    Ok(())
}

fn today() -> Outcome<String> {
    let output = program("date").args(["-u", "+%Y-%m-%d"]).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
