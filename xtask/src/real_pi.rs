//! The real pis that tests and benchmarks use, installed by name into the build directory together
//! with the Node they need. Each gets a start script, `bin/pi`.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::machine::{program, target};
use crate::npm;

const PI: &str = "@earendil-works/pi-coding-agent";

/// The version that benchmarks measure, and whose types `extension/` is checked against.
const OLDER: &str = "0.87.1";

/// Today's version.
const NEWER: &str = "1.5.0";

/// The packages that the bundle of the newer pi loads from beside itself.
const BESIDE_NEWER: [&str; 2] = ["jiti@2.7.0", "quickjs-wasi@3.6.2"];

/// The paths of a pi and its Node.
pub(crate) struct RealPi {
    pub(crate) program: PathBuf,
    /// The directory of its Node.
    pub(crate) node: PathBuf,
}

/// Installs every pi that the tests use, unless it is there already, and returns the older pi.
pub(crate) fn install_all() -> Outcome<RealPi> {
    let older = install()?;
    install_newer()?;
    Ok(older)
}

/// Installs the older pi and Node unless they are there already.
pub(crate) fn install() -> Outcome<RealPi> {
    let directory = target()?.join("pi");
    let modules = directory.join("node_modules");
    let node = node_package();
    let installed = RealPi {
        program: directory.join("bin/pi"),
        node: modules.join(&node).join("bin"),
    };
    if installed.program.exists() && installed.node.exists() {
        return Ok(installed);
    }
    npm::install(
        &directory,
        &[&format!("{PI}@{OLDER}"), &format!("{node}@24")],
    )?;
    let script = format!("node_modules/{PI}/dist/bundle/cli.js");
    write_start_script(&directory, &script)?;
    Ok(installed)
}

/// Unpacks the newer pi, because it cannot be installed: one of its dependencies was never
/// published. Its bundle needs only two of them.
fn install_newer() -> Outcome<()> {
    let directory = target()?.join("pi-1.5");
    // The start script is written last, so that an installation that was cut off is made again.
    if directory.join("bin/pi").exists() {
        return Ok(());
    }
    npm::install(&directory, &BESIDE_NEWER)?;
    let archive = npm::pack(&directory, &format!("{PI}@{NEWER}"))?;
    unpack(&archive, &directory)?;
    write_start_script(&directory, "package/dist/bundle/cli.js")
}

/// Unpacks an archive with Python, which the tests need anyway.
pub(crate) fn unpack(archive: &Path, directory: &Path) -> Outcome<()> {
    let status = program("python3")
        .args(["-m", "tarfile", "-e"])
        .args([archive, directory])
        .status()?;
    if !status.success() {
        return Err(format!("python3 -m tarfile -e {} ({status})", archive.display()).into());
    }
    Ok(())
}

/// Writes a script that starts pi with the Node of the older one. Its paths are relative, so that
/// a build directory can be moved.
fn write_start_script(directory: &Path, script: &str) -> Outcome<()> {
    let bin = directory.join("bin");
    fs::create_dir_all(&bin)?;
    let node = format!("pi/node_modules/{}/bin/node", node_package());
    let text = format!(
        "#!/bin/sh\nhere=${{0%/*}}\nexec \"$here/../../{node}\" \"$here/../{script}\" \"$@\"\n"
    );
    let unfinished = bin.join("pi.new");
    fs::write(&unfinished, text)?;
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755))?;
    fs::rename(unfinished, bin.join("pi"))?;
    Ok(())
}

fn node_package() -> String {
    let architecture = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("node-linux-{architecture}")
}
