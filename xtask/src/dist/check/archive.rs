//! The packages that are unpacked: the archive, by hand and by `install.sh`, and the Debian package.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::home::{Home, ended, is_here, output};
use super::proof::prove;
use super::{Checked, Shipment};
use crate::Outcome;
use crate::dist::packages::{CHECKSUMS, INSTALLER};
use crate::dist::release::NAME;
use crate::machine::program;

/// Unpacks the archive, as somebody does who reads a checksum first.
pub(super) fn archive(shipment: &Shipment) -> Outcome<Checked> {
    let home = Home::new()?;
    let packages = shipment.packages;
    output(
        program("sha256sum")
            .args(["--check", "--quiet", CHECKSUMS])
            .current_dir(packages.directory()),
    )?;
    output(
        program("tar")
            .arg("-xzf")
            .arg(packages.path(&packages.archive))
            .arg("-C")
            .arg(home.installed()),
    )?;
    let folder = home.installed().join(shipment.release.folder());
    for file in [
        "LICENSE",
        "man/man1/pi-subagents.1",
        "completions/_pi-subagents",
    ] {
        require(&folder.join(file))?;
    }
    prove(shipment, &home, &folder.join(NAME))
}

/// Installs by the script, from the directory of the packages.
pub(super) fn installer(shipment: &Shipment) -> Outcome<Checked> {
    let home = Home::new()?;
    let directory = shipment.packages.directory();
    output(&mut run_installer(&home, directory))?;
    let installed = home.path("home/.local");
    require(&installed.join("share/man/man1/pi-subagents-run.1"))?;
    prove(shipment, &home, &installed.join("bin").join(NAME))
}

/// Lets the script meet an archive that is not what the checksums say.
pub(super) fn altered_archive(shipment: &Shipment) -> Outcome<Checked> {
    let home = Home::new()?;
    let packages = shipment.packages;
    for name in [CHECKSUMS, INSTALLER, &packages.archive] {
        fs::copy(packages.path(name), home.installed().join(name))?;
    }
    let archive = home.installed().join(&packages.archive);
    let mut bytes = fs::read(&archive)?;
    bytes.push(0);
    fs::write(&archive, bytes)?;
    let ended = ended(&mut run_installer(&home, &home.installed()))?;
    let stderr = String::from_utf8_lossy(&ended.stderr);
    if ended.status.success() || !stderr.contains("nothing was installed") {
        return Err(format!("an altered archive was installed: {stderr}").into());
    }
    if home.path("home/.local").exists() {
        return Err("a refused archive left files".into());
    }
    Ok(Checked::Works("refused, and nothing is left".to_owned()))
}

fn run_installer(home: &Home, directory: &Path) -> Command {
    let mut script = home.command(Path::new("sh"));
    script.arg(directory.join(INSTALLER)).env(
        "PI_SUBAGENTS_FROM",
        format!("file://{}", directory.display()),
    );
    script
}

/// Installs the package of Debian below another root.
pub(super) fn deb(shipment: &Shipment) -> Outcome<Checked> {
    if !is_here("dpkg-deb") {
        return Ok(Checked::NotHere("dpkg-deb is not on PATH".to_owned()));
    }
    let home = Home::new()?;
    let package = shipment.packages.path(&shipment.packages.deb);
    output(program("dpkg-deb").arg("--info").arg(&package))?;
    output(
        program("dpkg-deb")
            .arg("--extract")
            .arg(&package)
            .arg(home.installed()),
    )?;
    let installed = home.installed().join("usr");
    require(&installed.join("share/man/man1/pi-subagents.1.gz"))?;
    let way = register(&home, &package)?;
    match prove(shipment, &home, &installed.join("bin").join(NAME))? {
        Checked::Works(figures) => Ok(Checked::Works(format!("{figures}; {way}"))),
        not_here @ Checked::NotHere(_) => Ok(not_here),
    }
}

/// Lets dpkg install the package into a data base of its own, where that is possible.
fn register(home: &Home, package: &Path) -> Outcome<String> {
    let root = home.path("root");
    fs::create_dir_all(root.join("var/lib/dpkg/info"))?;
    fs::create_dir_all(root.join("var/lib/dpkg/updates"))?;
    fs::write(root.join("var/lib/dpkg/status"), "")?;
    let mut installer = dpkg(&root);
    // The other root has no libc6.
    installer
        .args(["--force-depends", "--install"])
        .arg(package);
    let ended = ended(&mut installer)?;
    let program = root.join("usr/bin").join(NAME);
    if !ended.status.success() || !program.is_file() {
        let why = String::from_utf8_lossy(&ended.stderr);
        return Err(format!("dpkg --root ({}): {why}", ended.status).into());
    }
    output(dpkg(&root).args(["--remove", NAME]))?;
    if program.exists() {
        return Err("dpkg --remove left the program".into());
    }
    Ok("dpkg --root installs and removes it".to_owned())
}

/// Returns a dpkg for another root.
fn dpkg(root: &Path) -> Command {
    let mut dpkg = program("dpkg");
    dpkg.args(["--force-not-root", "--root"]).arg(root);
    dpkg
}

fn require(file: &Path) -> Outcome<()> {
    if file.is_file() {
        return Ok(());
    }
    Err(format!("{} was not installed", file.display()).into())
}
