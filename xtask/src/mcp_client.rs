//! The official MCP client for Python, installed by name into the build directory: the tests of the
//! MCP door drive it.

use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::machine::{program, target};

const CLIENT: &str = "mcp==2.3.0";

/// Installs the client unless it is there already.
pub(crate) fn install() -> Outcome<()> {
    let directory = target()?.join("mcp-client");
    // Written last, so that an installation that was cut off is made again.
    let done = directory.join(format!("{CLIENT}.installed"));
    if done.exists() {
        return Ok(());
    }
    println!("xtask: pip install {CLIENT}");
    call(
        Path::new("python3"),
        &["-m", "venv", "--clear", &directory.display().to_string()],
    )?;
    let quiet = ["--quiet", "--disable-pip-version-check"];
    let install = [&["-m", "pip", "install"], &quiet[..], &[CLIENT]].concat();
    call(&directory.join("bin/python"), &install)?;
    fs::write(done, "")?;
    Ok(())
}

fn call(python: &Path, arguments: &[&str]) -> Outcome<()> {
    let command = format!("{} {}", python.display(), arguments.join(" "));
    let status = program(python)
        .args(arguments)
        .status()
        .map_err(|error| format!("{command}: {error}"))?;
    if !status.success() {
        return Err(format!("{command} ({status})").into());
    }
    Ok(())
}
