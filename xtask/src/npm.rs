//! Packages by their names, installed into the build directory.

use std::path::Path;

use crate::Outcome;
use crate::machine::program;

/// Installs packages below a directory.
pub(crate) fn install(directory: &Path, packages: &[&str]) -> Outcome<()> {
    let packages = packages.join(" ");
    println!("xtask: npm install {packages}");
    let status = program("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .arg("--prefix")
        .arg(directory)
        .args(packages.split(' '))
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("npm install {packages} ({status})").into())
    }
}
