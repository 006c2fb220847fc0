//! The browser in which the web page is tested: Chromium of the system's packages, driven by
//! playwright.

use std::path::Path;
use std::time::Duration;

use crate::Outcome;
use crate::machine::{program, target};
use crate::npm;
use crate::steps::wait_within;

const DRIVER: &str = "playwright-core@1.65.0";

/// The paths at which the packages of Debian and Ubuntu put the browser.
const CHROMIUM: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// The time that the package manager may take.
const LONGEST_INSTALL: Duration = Duration::from_mins(8);

/// Installs the browser and its driver unless they are there already.
pub(crate) fn install() -> Outcome<()> {
    let directory = target()?.join("playwright");
    if !directory.join("node_modules/playwright-core").exists() {
        npm::install(&directory, &[DRIVER])?;
    }
    if is_there() {
        return Ok(());
    }
    println!("xtask: chromium is missing; apt-get install chromium");
    // The list of packages may be old or empty, as on a fresh machine.
    let installed = apt(&["install", "-y", "--no-install-recommends", "chromium"]).is_ok()
        || (apt(&["update"]).is_ok()
            && apt(&["install", "-y", "--no-install-recommends", "chromium"]).is_ok());
    if installed && is_there() {
        return Ok(());
    }
    Err("the tests of the web page need Chromium, and it could not be installed; install the package chromium and run this again".into())
}

fn is_there() -> bool {
    CHROMIUM.iter().any(|path| Path::new(path).exists())
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
