//! Packages of the system that tests need: installed by name where they are missing.

use std::path::Path;
use std::time::Duration;

use crate::Outcome;
use crate::machine::program;
use crate::steps::wait_within;

/// The shells in which tests press Tab. Each is the name of a package and of its program.
const SHELLS: [&str; 2] = ["zsh", "fish"];

/// The time that the package manager may take.
const LONGEST_INSTALL: Duration = Duration::from_mins(8);

/// Installs the shells that are missing.
pub(crate) fn install_shells() -> Outcome<()> {
    let is_missing = |name: &&str| !Path::new("/usr/bin").join(name).exists();
    let missing: Vec<&str> = SHELLS.into_iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    install(&missing)
}

/// Installs the program that counts instructions.
pub(crate) fn install_valgrind() -> Outcome<()> {
    if Path::new("/usr/bin/valgrind").exists() {
        return Ok(());
    }
    install(&["valgrind"])
}

/// Installs packages by name.
pub(crate) fn install(packages: &[&str]) -> Outcome<()> {
    let names = packages.join(" ");
    println!("xtask: {names} is missing; apt-get install {names}");
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(packages);
    // The list of packages may be old or empty, as on a fresh machine.
    let installed = apt(&install).is_ok() || (apt(&["update"]).is_ok() && apt(&install).is_ok());
    if installed {
        return Ok(());
    }
    Err(format!("the tests need the packages {names}, which apt-get could not install; install them and run this again").into())
}

/// Calls the package manager, as root or through sudo that asks nothing.
fn apt(arguments: &[&str]) -> Outcome<()> {
    let mut command = if Path::new("/usr/bin/sudo").exists() {
        let mut sudo = program("sudo");
        sudo.args(["-n", "apt-get"]);
        sudo
    } else {
        program("apt-get")
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    let process = command.args(arguments).spawn()?;
    let status = wait_within(process, LONGEST_INSTALL)?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("apt-get {} ({status})", arguments.join(" ")).into())
    }
}
