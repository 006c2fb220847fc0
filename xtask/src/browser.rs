//! The browser in which the web page is tested: Chromium of the system's packages, driven by
//! playwright.

use std::path::Path;

use crate::machine::target;
use crate::{Outcome, npm, packages};

const DRIVER: &str = "playwright-core@1.65.0";

/// The checks of what people with a screen reader, a keyboard or other eyes need.
const CHECKS: &str = "axe-core@4.14.0";

/// The paths at which the packages of Debian and Ubuntu put the browser.
const CHROMIUM: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// Installs the browser and its driver unless they are there already.
pub(crate) fn install() -> Outcome<()> {
    let directory = target()?.join("playwright");
    let packages =
        ["playwright-core", "axe-core"].map(|name| directory.join("node_modules").join(name));
    if !packages.iter().all(|package| package.exists()) {
        npm::install(&directory, &[DRIVER, CHECKS])?;
    }
    if is_there() {
        return Ok(());
    }
    packages::install(&["chromium"])?;
    if is_there() {
        return Ok(());
    }
    Err("the tests of the web page need Chromium, and the package chromium did not bring it to /usr/bin; put it there and run this again".into())
}

fn is_there() -> bool {
    CHROMIUM.iter().any(|path| Path::new(path).exists())
}
