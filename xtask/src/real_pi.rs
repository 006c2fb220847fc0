//! The real pi that tests and benchmarks use, installed by name into the build directory together
//! with the Node it needs.

use std::env;
use std::path::PathBuf;

use crate::Outcome;
use crate::machine::target;
use crate::npm;

const PI: &str = "@earendil-works/pi-coding-agent";
const VERSION: &str = "0.87.1";

/// Where pi and its Node are.
pub(crate) struct RealPi {
    pub(crate) program: PathBuf,
    /// The directory of its Node.
    pub(crate) node: PathBuf,
}

/// Installs pi unless it is there already.
pub(crate) fn install() -> Outcome<RealPi> {
    let directory = target()?.join("pi");
    let modules = directory.join("node_modules");
    let node = node_package();
    let installed = RealPi {
        program: modules.join(".bin/pi"),
        node: modules.join(&node).join("bin"),
    };
    if installed.program.exists() && installed.node.exists() {
        return Ok(installed);
    }
    npm::install(
        &directory,
        &[&format!("{PI}@{VERSION}"), &format!("{node}@24")],
    )?;
    Ok(installed)
}

fn node_package() -> String {
    let architecture = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("node-linux-{architecture}")
}
