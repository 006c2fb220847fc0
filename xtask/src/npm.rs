//! Packages by their names, installed into the build directory.

use std::fs;
use std::path::{Path, PathBuf};

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

/// Fetches the archive of a package into a directory, without its dependencies, and returns its
/// path.
pub(crate) fn pack(directory: &Path, package: &str) -> Outcome<PathBuf> {
    println!("xtask: npm pack {package}");
    fs::create_dir_all(directory)?;
    let output = program("npm")
        .args(["pack", "--silent", "--pack-destination"])
        .arg(directory)
        .arg(package)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let Some(name) = said.lines().last().filter(|_| output.status.success()) else {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("npm pack {package} ({}): {why}", output.status).into());
    };
    Ok(directory.join(name.trim()))
}

/// Returns the newest version of a package.
pub(crate) fn newest_version(package: &str) -> Outcome<String> {
    let output = program("npm").args(["view", package, "version"]).output()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || version.is_empty() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("npm view {package} ({}): {why}", output.status).into());
    }
    Ok(version)
}
